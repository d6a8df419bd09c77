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
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM || error == EROFS) return absl::PermissionDeniedError(message);
  if (error == EISDIR || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG || error == ENXIO) {
    return absl::InvalidArgumentError(message);
  }
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

// Opens a pipe or device for writing, or returns -1 with errno set.
int OpenSpecial(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a reader must fail (ENXIO) and not hang. Writes do wait.
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return -1;
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// By this name a file that has none can be linked. linkat() with AT_EMPTY_PATH would need a privilege.
std::string DescriptorPath(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// Makes a file in `folder` that has no name yet, so that not even a killed process leaves one behind. Returns
// -1 where the file system has no such files.
int OpenNameless(const std::string& folder, mode_t mode) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (fd < 0) return -1;
  if (access(DescriptorPath(fd).c_str(), F_OK) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(const std::string& path, Access access) {
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return CreateError(path, errno);
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = OpenSpecial(path);
    if (fd >= 0) return std::unique_ptr<AtomicFile>(new AtomicFile(path, "", fd, /*named=*/false));
    if (errno != ENXIO) return CreateError(path, errno);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot create: expected a file, got a pipe that nobody reads or a socket"));
  }
  const std::string target = FollowLinks(path);
  const std::string folder = target.substr(0, target.rfind('/') + 1);  // empty, or with its slash
  const mode_t mode = access == Access::kOwnerOnly ? 0600 : 0666;
  for (int attempt = 0; attempt < kNameTries; ++attempt) {
    uint64_t random = 0;
    PROOFMILL_RETURN_IF_ERROR(FillRandom(&random, sizeof(random)));
    // Not made of the target's name, which may be as long as names can be.
    const std::string temporary =
        absl::StrCat(folder, ".proofmill.", absl::Hex(random, absl::kZeroPad16), ".tmp");
    if (const int nameless = OpenNameless(folder.empty() ? "." : folder, mode); nameless >= 0) {
      return std::unique_ptr<AtomicFile>(new AtomicFile(target, temporary, nameless, /*named=*/false));
    }
    const int fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd >= 0) return std::unique_ptr<AtomicFile>(new AtomicFile(target, temporary, fd, /*named=*/true));
    if (errno != EEXIST) return CreateError(path, errno);
  }
  return CreateError(path, EEXIST);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (named_) unlink(temporary_.c_str());
}

absl::Status AtomicFile::ErrnoStatus(int error, absl::string_view what) const {
  const std::string message = absl::StrCat(target_, ": cannot ", what, ": ", std::strerror(error));
  if (error == EFBIG) return absl::ResourceExhaustedError(message);
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
  // A link cannot replace a file, a rename can: a nameless file takes the temporary name in between.
  if (!temporary_.empty() && !named_) {
    if (linkat(AT_FDCWD, DescriptorPath(fd_).c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return ErrnoStatus(errno, "put in place");
    }
    named_ = true;
  }
  if (close(std::exchange(fd_, -1)) != 0) return ErrnoStatus(errno, "close");
  if (temporary_.empty()) return absl::OkStatus();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return ErrnoStatus(errno, "put in place");
  named_ = false;
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes, AtomicFile::Access access) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path, access));
  PROOFMILL_RETURN_IF_ERROR(
      file->Append(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size())));
  return file->Commit();
}

}  // namespace proofmill::engine
