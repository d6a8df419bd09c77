// Writing of whole files, so that a failed run leaves nothing behind.

#ifndef PROOFMILL_ENGINE_FORMATS_ATOMIC_FILE_H_
#define PROOFMILL_ENGINE_FORMATS_ATOMIC_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace proofmill::engine {

// A file that appears under its name only when it is whole: bytes go to a new file beside the target, and
// Commit() renames it. Without Commit() the destructor removes it, so a failed run leaves nothing behind.
// A target that exists and is no regular file (/dev/stdout, a pipe) is written directly.
//
// Thread safety: one thread at a time.
class AtomicFile {
 public:
  enum class Access { kPublic, kOwnerOnly };  // mode 0666 less the umask, or 0600 for secrets

  //   NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (a folder), INTERNAL  the file cannot be made.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(const std::string& path,
                                                            Access access = Access::kPublic);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Appends.
  //   RESOURCE_EXHAUSTED  the disk is full or a quota is reached.
  //   INTERNAL            the system could not write.
  [[nodiscard]] absl::Status Append(absl::Span<const uint8_t> bytes);
  // Overwrites bytes written before. REQUIRES: the range was appended.
  //   FAILED_PRECONDITION  after Commit(), or the target is a pipe or device.
  [[nodiscard]] absl::Status WriteAt(uint64_t offset, absl::Span<const uint8_t> bytes);
  // Makes the file visible. Errors as Append(). Only once, and nothing after it (FAILED_PRECONDITION).
  [[nodiscard]] absl::Status Commit();

  uint64_t bytes_appended() const { return bytes_appended_; }

 private:
  AtomicFile(std::string target, std::string temporary, int fd)
      : target_(std::move(target)), temporary_(std::move(temporary)), fd_(fd) {}
  absl::Status ErrnoStatus(int error, absl::string_view what) const;

  const std::string target_;
  const std::string temporary_;  // empty when the target is written directly
  int fd_;                       // -1 after Commit()
  uint64_t bytes_appended_ = 0;
};

// AtomicFile in one call, with its errors.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 AtomicFile::Access access = AtomicFile::Access::kPublic);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_ATOMIC_FILE_H_
