// A cursor over bytes in memory that cannot run past their end. For the small parts of binary formats; large
// sections are read straight into typed buffers.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_ENGINE_FORMATS_BYTE_READER_H_
#define PROOFMILL_ENGINE_FORMATS_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/formats/endian.h"

namespace proofmill::engine {

class ByteReader {
 public:
  // `name` starts every error message. REQUIRES: `bytes` outlive this.
  ByteReader(std::string name, absl::Span<const uint8_t> bytes) : name_(std::move(name)), rest_(bytes) {}

  size_t remaining() const { return rest_.size(); }
  const std::string& name() const { return name_; }

  // The next `count` bytes.
  //   DATA_LOSS  there are fewer.
  absl::StatusOr<absl::Span<const uint8_t>> Read(size_t count) {
    if (count > rest_.size()) {
      return absl::DataLossError(
          absl::StrCat(name_, ": cut short: expected ", count, " more bytes, got ", rest_.size()));
    }
    const absl::Span<const uint8_t> out = rest_.subspan(0, count);
    rest_.remove_prefix(count);
    return out;
  }

  absl::StatusOr<uint8_t> ReadU8() { return ReadValue<uint8_t>(); }
  absl::StatusOr<uint32_t> ReadU32() { return ReadValue<uint32_t>(); }
  absl::StatusOr<uint64_t> ReadU64() { return ReadValue<uint64_t>(); }
  // An object that lies in the file as it lies in memory. Errors as Read().
  template <typename T>
  absl::StatusOr<T> ReadValue() {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = Read(sizeof(T));
    if (!bytes.ok()) return bytes.status();
    T value;
    std::memcpy(static_cast<void*>(&value), bytes->data(), sizeof(T));
    return value;
  }

  //   INVALID_ARGUMENT  bytes are left.
  [[nodiscard]] absl::Status ExpectEnd() const {
    if (rest_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", rest_.size(), " bytes too many"));
  }

 private:
  std::string name_;
  absl::Span<const uint8_t> rest_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_BYTE_READER_H_
