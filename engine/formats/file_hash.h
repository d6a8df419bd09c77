// BLAKE2b-512 over a file whose parts arrive in the order of the file: as buffers that the caller has read
// already, or as ranges that are read here and not kept.
//
// The digest speaks of exactly the bytes in the caller's buffers, so it cannot be the digest of another file
// than the one that was loaded. Hashing runs on a thread of its own while the caller reads on; sources below
// kInlineBytesMax are hashed by the caller.
//
// Thread safety: one thread calls; the source must allow concurrent ReadAt (all do).

#ifndef PROOFMILL_ENGINE_FORMATS_FILE_HASH_H_
#define PROOFMILL_ENGINE_FORMATS_FILE_HASH_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/mutex.h"
#include "engine/formats/file.h"

namespace proofmill::engine {

class FileHash {
 public:
  static constexpr uint64_t kInlineBytesMax = uint64_t{4} << 20;
  using Digest = std::array<uint8_t, 64>;

  // REQUIRES: `source` outlives this.
  explicit FileHash(const ByteSource& source);
  FileHash(const FileHash&) = delete;
  FileHash& operator=(const FileHash&) = delete;
  ~FileHash();

  // REQUIRES: the bytes stay and do not change until Finish() has returned or this is destroyed.
  void Add(absl::Span<const uint8_t> bytes);
  void AddFromSource(uint64_t offset, uint64_t length);

  // Waits for the digest. Call once, last.
  //   INTERNAL   the crypto library refused.
  //   otherwise  as ByteSource::ReadAt.
  absl::StatusOr<Digest> Finish();

 private:
  struct Part {
    absl::Span<const uint8_t> bytes;  // or, where data is null:
    uint64_t offset;
    uint64_t length;
  };
  class Blake2b;

  void Enqueue(const Part& part);
  void HashPart(const Part& part);
  void RunThread();
  void Join();

  const ByteSource& source_;
  const std::unique_ptr<Blake2b>
      blake2b_;          // touched by one thread only: the worker, or the caller after Join
  absl::Status status_;  // likewise

  std::thread thread_;  // not started for small sources
  Mutex mu_;
  CondVar changed_;
  std::deque<Part> parts_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_FILE_HASH_H_
