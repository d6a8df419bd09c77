#include "engine/backend/cuda/pinned_upload.h"

#include <algorithm>
#include <cstring>

#include "engine/base/secure_memory.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

// One core copies about 8 GB/s, the bus takes 55: several fill a chunk together.
constexpr size_t kCopyGrainBytes = size_t{1} << 16;

void ParallelCopy(uint8_t* target, const uint8_t* source, size_t bytes) {
  kernels::ParallelFor(0, bytes, kCopyGrainBytes, [&](size_t begin, size_t end) {
    std::memcpy(target + begin, source + begin, end - begin);
  });
}

}  // namespace

absl::StatusOr<PinnedUpload> PinnedUpload::Make(CudaCalls& calls, size_t chunk_bytes) {
  std::array<Chunk, 2> chunks;
  for (Chunk& chunk : chunks) {
    PROOFMILL_ASSIGN_OR_RETURN(chunk.memory, PinnedBuffer<uint8_t>::Make(calls, chunk_bytes));
    PROOFMILL_ASSIGN_OR_RETURN(chunk.copied, Event::Make(calls));
  }
  return PinnedUpload(calls, std::move(chunks));
}

absl::Status PinnedUpload::Upload(void* target, const void* source, size_t bytes, cudaStream_t stream) {
  for (size_t done = 0; done < bytes;) {
    Chunk& chunk = chunks_[next_];
    next_ = 1 - next_;
    const size_t part = std::min(bytes - done, chunk.memory.size());
    PROOFMILL_RETURN_IF_ERROR(WaitFor(chunk));
    chunk.used = std::max(chunk.used, part);
    ParallelCopy(chunk.memory.data(), static_cast<const uint8_t*>(source) + done, part);
    PROOFMILL_RETURN_IF_ERROR(calls_->Call("cudaMemcpyAsync", [&] {
      return cudaMemcpyAsync(static_cast<uint8_t*>(target) + done, chunk.memory.data(), part,
                             cudaMemcpyHostToDevice, stream);
    }));
    calls_->CountHostToDevice(part);
    PROOFMILL_RETURN_IF_ERROR(
        calls_->Call("cudaEventRecord", [&] { return cudaEventRecord(chunk.copied.get(), stream); }));
    done += part;
  }
  return absl::OkStatus();
}

absl::Status PinnedUpload::Wipe() {
  absl::Status status;
  for (Chunk& chunk : chunks_) {
    if (chunk.used == 0) continue;
    status.Update(WaitFor(chunk));  // whatever it says, nothing may stay
    kernels::ParallelFor(0, chunk.used, kCopyGrainBytes, [&](size_t begin, size_t end) {
      WipeMemory(chunk.memory.data() + begin, end - begin);
    });
    chunk.used = 0;
  }
  return status;
}

absl::Status PinnedUpload::WaitFor(const Chunk& chunk) {
  // An event that was never recorded counts as done.
  return calls_->Call("cudaEventSynchronize", [&] { return cudaEventSynchronize(chunk.copied.get()); });
}

}  // namespace proofmill::engine
