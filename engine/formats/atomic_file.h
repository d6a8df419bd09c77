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

// A file that appears under its name only when it is whole: bytes go to a new file in the target's folder,
// and Commit() renames it. Without Commit() the destructor removes it, so a failed run leaves nothing behind.
// Where the file system can, the new file has no name before Commit(), and a killed run leaves nothing
// either. A target that exists and is no regular file (/dev/stdout, a pipe with a reader) is written
// directly.
//
// Thread safety: one thread at a time.
class AtomicFile {
 public:
  enum class Access { kPublic, kOwnerOnly };  // mode 0666 less the umask, or 0600 for secrets

  //   INVALID_ARGUMENT  a folder, a pipe that nobody reads, a name that is too long or cannot be followed.
  //   NOT_FOUND, PERMISSION_DENIED, INTERNAL  the file cannot be made.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(const std::string& path,
                                                            Access access = Access::kPublic);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Appends.
  //   RESOURCE_EXHAUSTED  the file is larger than this process may make one.
  //   INTERNAL            the system could not write: the disk is full, for instance.
  [[nodiscard]] absl::Status Append(absl::Span<const uint8_t> bytes);
  // Overwrites bytes written before. REQUIRES: the range was appended.
  //   FAILED_PRECONDITION  after Commit(), or the target is a pipe or device.
  [[nodiscard]] absl::Status WriteAt(uint64_t offset, absl::Span<const uint8_t> bytes);
  // Makes the file visible. Errors as Append(); the destructor then removes what is left.
  // Only once, and nothing after it (FAILED_PRECONDITION).
  [[nodiscard]] absl::Status Commit();

  uint64_t bytes_appended() const { return bytes_appended_; }

 private:
  AtomicFile(std::string target, std::string temporary, int fd, bool named)
      : target_(std::move(target)), temporary_(std::move(temporary)), fd_(fd), named_(named) {}
  absl::Status ErrnoStatus(int error, absl::string_view what) const;

  const std::string target_;
  const std::string temporary_;  // empty when the target is written directly
  int fd_;                       // -1 after Commit()
  bool named_;                   // `temporary_` is there and is ours to remove
  uint64_t bytes_appended_ = 0;
};

// AtomicFile in one call, with its errors.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 AtomicFile::Access access = AtomicFile::Access::kPublic);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_ATOMIC_FILE_H_
