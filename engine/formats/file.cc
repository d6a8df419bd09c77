#include "engine/formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

// Linux moves at most 0x7ffff000 bytes in one call.
constexpr size_t kReadBytesMax = size_t{1} << 30;

absl::Status OpenError(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": cannot open: ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(message);
  if (error == EISDIR || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG || error == ENXIO) {
    return absl::InvalidArgumentError(message);
  }
  return absl::InternalError(message);
}

}  // namespace

absl::Status ByteSource::CheckRange(uint64_t offset, uint64_t length) const {
  if (offset <= size() && length <= size() - offset) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(name_, ": bytes ", offset, " to ", offset, " + ", length,
                                            " are beyond its ", size(), " bytes"));
}

absl::StatusOr<RandomAccessFile::Identity> RandomAccessFile::Identify(const std::string& path, int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    return absl::InternalError(absl::StrCat(path, ": cannot stat: ", std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected a regular file, got ",
                                                   S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe"));
  }
  return Identity{info.st_dev,         info.st_ino,          static_cast<uint64_t>(info.st_size),
                  info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                  info.st_ctim.tv_nsec};
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> RandomAccessFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang before we can refuse it.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return OpenError(path, errno);
  auto identity = Identify(path, fd);
  if (!identity.ok()) {
    close(fd);
    return identity.status();
  }
  return std::unique_ptr<RandomAccessFile>(new RandomAccessFile(path, fd, *identity));
}

RandomAccessFile::~RandomAccessFile() { close(fd_); }

absl::Status RandomAccessFile::ReadAt(uint64_t offset, absl::Span<uint8_t> out) const {
  PROOFMILL_RETURN_IF_ERROR(CheckRange(offset, out.size()));
  size_t done = 0;
  while (done < out.size()) {
    const size_t want = std::min(out.size() - done, kReadBytesMax);
    const ssize_t got = pread(fd_, out.data() + done, want, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return absl::InternalError(absl::StrCat(name(), ": cannot read: ", std::strerror(errno)));
    }
    if (got == 0) {
      return absl::AbortedError(absl::StrCat(name(), ": the file became shorter while it was read: expected ",
                                             size(), " bytes, got ", offset + done));
    }
    done += static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::Status RandomAccessFile::CheckUnchanged() const {
  PROOFMILL_ASSIGN_OR_RETURN(const Identity now, Identify(name(), fd_));
  if (now == at_open_) return absl::OkStatus();
  if (now.size != at_open_.size) {
    return absl::AbortedError(absl::StrCat(name(), ": the file changed while it was read: expected ",
                                           at_open_.size, " bytes, got ", now.size));
  }
  return absl::AbortedError(absl::StrCat(name(), ": the file changed while it was read"));
}

absl::Status MemorySource::ReadAt(uint64_t offset, absl::Span<uint8_t> out) const {
  PROOFMILL_RETURN_IF_ERROR(CheckRange(offset, out.size()));
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path, uint64_t bytes_max) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  if (file->size() > bytes_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": expected at most ", bytes_max, " bytes, got ", file->size()));
  }
  std::string text(file->size(), '\0');
  PROOFMILL_RETURN_IF_ERROR(
      file->ReadAt(0, absl::MakeSpan(reinterpret_cast<uint8_t*>(text.data()), text.size())));
  PROOFMILL_RETURN_IF_ERROR(file->CheckUnchanged());
  return text;
}

}  // namespace proofmill::engine
