// The bytes of a secret input as they come in, in pieces: a .wtns file, or the values of a polynomial. Laid
// out such that the values of a .wtns file, as snarkjs writes it, can be taken as they lie, without a copy.
//
// Thread safety: as a plain array. Move only; wiped when it goes.

#ifndef PROOFMILL_ENGINE_FORMATS_RECEIVED_INPUT_H_
#define PROOFMILL_ENGINE_FORMATS_RECEIVED_INPUT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/formats/file.h"
#include "engine/formats/wtns.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

class ReceivedInput {
 public:
  ReceivedInput() = default;
  // `size` bytes, not set. Throws std::bad_alloc.
  explicit ReceivedInput(uint64_t size);

  uint64_t size() const { return size_; }
  // REQUIRES, for both: the range is inside, and the values have not been taken.
  void Write(uint64_t offset, absl::Span<const uint8_t> piece);
  void Read(uint64_t offset, absl::Span<uint8_t> out) const;

  // What follows the header of a .wtns file, of whole values only.
  SecretBuffer<kernels::U256> TakeValues() {
    values_taken_ = true;
    return std::move(values_);
  }
  bool values_taken() const { return values_taken_; }
  // Undoes it. REQUIRES: they are what TakeValues() gave, unchanged.
  void GiveBack(SecretBuffer<kernels::U256> values) {
    values_ = std::move(values);
    values_taken_ = false;
  }

 private:
  uint64_t size_ = 0;
  bool values_taken_ = false;
  SecretBuffer<uint8_t> head_;          // kWtnsHeaderBytes
  SecretBuffer<kernels::U256> values_;  // the rest, in whole values
};

// These bytes, which must outlive it and not change.
class InputSource final : public ByteSource {
 public:
  InputSource(std::string name, const ReceivedInput& bytes) : ByteSource(std::move(name)), bytes_(bytes) {}

  uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] absl::Status ReadAt(uint64_t offset, absl::Span<uint8_t> out) const override;
  [[nodiscard]] absl::Status CheckUnchanged() const override { return absl::OkStatus(); }

 private:
  const ReceivedInput& bytes_;
};

// As ReadWtns(), without looking whether the values are canonical. Those of a file as snarkjs writes it are
// taken from `bytes`; they are copied otherwise. Throws std::bad_alloc.
absl::StatusOr<Witness> TakeWtns(ReceivedInput& bytes, uint32_t expected_count);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_RECEIVED_INPUT_H_
