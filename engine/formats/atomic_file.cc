#include "engine/formats/atomic_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

// A failed name is as good as none: a few tries of 64 random bits each.
constexpr int kNameTries = 4;

absl::Status CreateError(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": cannot create: ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM || error == EROFS) return absl::PermissionDeniedError(message);
  if (error == EISDIR) return absl::InvalidArgumentError(message);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

// The file that `path` leads to, so that a symbolic link stays one. A dangling link is replaced.
std::string FollowLinks(const std::string& path) {
  char* const resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string out(resolved);
  free(resolved);
  return out;
}

bool IsSpecial(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(const std::string& path, Access access) {
  if (IsSpecial(path)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return CreateError(path, errno);
    return std::unique_ptr<AtomicFile>(new AtomicFile(path, "", fd));
  }
  const std::string target = FollowLinks(path);
  const mode_t mode = access == Access::kOwnerOnly ? 0600 : 0666;
  for (int attempt = 0; attempt < kNameTries; ++attempt) {
    uint64_t random = 0;
    PROOFMILL_RETURN_IF_ERROR(FillRandom(&random, sizeof(random)));
    const std::string temporary = absl::StrCat(target, ".", absl::Hex(random, absl::kZeroPad16), ".tmp");
    const int fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd >= 0) return std::unique_ptr<AtomicFile>(new AtomicFile(target, temporary, fd));
    if (errno != EEXIST) return CreateError(path, errno);
  }
  return CreateError(path, EEXIST);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status AtomicFile::ErrnoStatus(int error, absl::string_view what) const {
  const std::string message = absl::StrCat(target_, ": cannot ", what, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

absl::Status AtomicFile::Append(absl::Span<const uint8_t> bytes) {
  if (fd_ < 0) return absl::FailedPreconditionError(absl::StrCat(target_, ": written to after its end"));
  while (!bytes.empty()) {
    const ssize_t put = write(fd_, bytes.data(), bytes.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "write");
    }
    bytes.remove_prefix(static_cast<size_t>(put));
    bytes_appended_ += static_cast<uint64_t>(put);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::WriteAt(uint64_t offset, absl::Span<const uint8_t> bytes) {
  if (fd_ < 0 || temporary_.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(target_, ": cannot be changed any more"));
  }
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "write");
    }
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (fd_ < 0) return absl::FailedPreconditionError(absl::StrCat(target_, ": committed twice"));
  // The data goes to the disk before the name: after a power cut there is the old file or the whole new one.
  if (!temporary_.empty() && fsync(fd_) != 0) return ErrnoStatus(errno, "flush");
  if (close(std::exchange(fd_, -1)) != 0) {
    absl::Status status = ErrnoStatus(errno, "close");
    if (!temporary_.empty()) unlink(temporary_.c_str());
    return status;
  }
  if (temporary_.empty()) return absl::OkStatus();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    absl::Status status = ErrnoStatus(errno, "rename");
    unlink(temporary_.c_str());
    return status;
  }
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes, AtomicFile::Access access) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path, access));
  PROOFMILL_RETURN_IF_ERROR(
      file->Append(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size())));
  return file->Commit();
}

}  // namespace proofmill::engine
