// Copies host memory of any kind to a device through two page-locked chunks, so that the copy of one overlaps
// with the filling of the other: pageable memory copied directly reaches a quarter of the bus.
//
// Thread safety: one upload at a time per object.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_PINNED_UPLOAD_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_PINNED_UPLOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"

namespace proofmill::engine {

class PinnedUpload {
 public:
  // REQUIRES: the device that uploads go to is current, here and in Upload(). `calls` outlives the object.
  static absl::StatusOr<PinnedUpload> Make(CudaCalls& calls, size_t chunk_bytes);

  // Copies `bytes` bytes; on return `source` may be reused, and `stream` holds copies that it still has to
  // do.
  absl::Status Upload(void* target, const void* source, size_t bytes, cudaStream_t stream);

  // Overwrites what uploads left in the chunks, after waiting for their copies. Without it, it stays until
  // the next upload or the end of the object. On an error of the wait it is overwritten all the same.
  absl::Status Wipe();

  // What is in a chunk; for tests.
  absl::Span<const uint8_t> chunk(size_t i) const {
    return {chunks_[i].memory.data(), chunks_[i].memory.size()};
  }

 private:
  struct Chunk {
    PinnedBuffer<uint8_t> memory;
    Event copied;
    size_t used = 0;  // bytes from the beginning that uploads wrote
  };
  PinnedUpload(CudaCalls& calls, std::array<Chunk, 2> chunks) : calls_(&calls), chunks_(std::move(chunks)) {}

  absl::Status WaitFor(const Chunk& chunk);

  CudaCalls* calls_;
  std::array<Chunk, 2> chunks_;
  size_t next_ = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_PINNED_UPLOAD_H_
