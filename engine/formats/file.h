// Reading of bytes at offsets: from files, from memory and from fakes in tests. Writing is in atomic_file.h.
//
// Files are read with pread(2), never mapped: a file that is truncated by someone else while we read it gives
// an error here, where a mapping would end the process with SIGBUS.

#ifndef PROOFMILL_ENGINE_FORMATS_FILE_H_
#define PROOFMILL_ENGINE_FORMATS_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/atomic_file.h"  // IWYU pragma: export

namespace proofmill::engine {

// Thread safety: the const methods may be called from any thread at the same time.
class ByteSource {
 public:
  // `name` is what error messages call this source, usually the path.
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  const std::string& name() const { return name_; }
  virtual uint64_t size() const = 0;

  // Fills `out` with the bytes from `offset` on, all of them or an error.
  //   OUT_OF_RANGE  the range reaches beyond size(): the caller did not check.
  //   ABORTED       the source became shorter since it was opened.
  //   INTERNAL      the system could not read.
  [[nodiscard]] virtual absl::Status ReadAt(uint64_t offset, absl::Span<uint8_t> out) const = 0;

  // Call after the last read: what was read is one consistent state only if this is OK.
  //   ABORTED  the source changed since it was opened.
  [[nodiscard]] virtual absl::Status CheckUnchanged() const = 0;

 protected:
  // OUT_OF_RANGE unless `length` bytes from `offset` on are inside size().
  [[nodiscard]] absl::Status CheckRange(uint64_t offset, uint64_t length) const;

 private:
  const std::string name_;
};

// A regular file. Owns the descriptor.
class RandomAccessFile final : public ByteSource {
 public:
  //   NOT_FOUND          no such file.
  //   PERMISSION_DENIED  it may not be read.
  //   INVALID_ARGUMENT   it is a folder, a device, a pipe or a socket.
  //   INTERNAL           the system could not open it for another reason.
  static absl::StatusOr<std::unique_ptr<RandomAccessFile>> Open(const std::string& path);
  ~RandomAccessFile() override;

  uint64_t size() const override { return at_open_.size; }
  [[nodiscard]] absl::Status ReadAt(uint64_t offset, absl::Span<uint8_t> out) const override;
  // Compares size, modification time, change time and inode with those at Open().
  [[nodiscard]] absl::Status CheckUnchanged() const override;

 private:
  struct Identity {
    uint64_t device, inode, size;
    int64_t modified_seconds, modified_nanos, changed_seconds, changed_nanos;
    bool operator==(const Identity&) const = default;
  };
  RandomAccessFile(std::string path, int fd, const Identity& identity)
      : ByteSource(std::move(path)), fd_(fd), at_open_(identity) {}
  static absl::StatusOr<Identity> Identify(const std::string& path, int fd);

  const int fd_;
  const Identity at_open_;
};

// Bytes that somebody else holds in memory. REQUIRES: they outlive this and do not change.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, absl::Span<const uint8_t> bytes)
      : ByteSource(std::move(name)), bytes_(bytes) {}

  uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] absl::Status ReadAt(uint64_t offset, absl::Span<uint8_t> out) const override;
  [[nodiscard]] absl::Status CheckUnchanged() const override { return absl::OkStatus(); }

 private:
  const absl::Span<const uint8_t> bytes_;
};

// The whole of a text file of at most `bytes_max` bytes.
//   RESOURCE_EXHAUSTED  it is longer.
//   otherwise           as RandomAccessFile.
absl::StatusOr<std::string> ReadTextFile(const std::string& path, uint64_t bytes_max);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_FILE_H_
