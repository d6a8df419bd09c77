#include "engine/formats/received_input.h"

#include <algorithm>
#include <cstring>

#include "engine/base/status_macros.h"
#include "engine/formats/wtns_layout.h"

namespace proofmill::engine {
namespace {

constexpr uint64_t kValueBytes = sizeof(kernels::U256);

uint64_t ValuesIn(uint64_t size) {
  return size <= kWtnsHeaderBytes ? 0 : (size - kWtnsHeaderBytes + kValueBytes - 1) / kValueBytes;
}

}  // namespace

ReceivedInput::ReceivedInput(uint64_t size) : size_(size), head_(kWtnsHeaderBytes), values_(ValuesIn(size)) {}

void ReceivedInput::Write(uint64_t offset, absl::Span<const uint8_t> piece) {
  if (offset < kWtnsHeaderBytes) {
    const size_t here = static_cast<size_t>(std::min<uint64_t>(piece.size(), kWtnsHeaderBytes - offset));
    if (here != 0) std::memcpy(head_.data() + offset, piece.data(), here);
    piece.remove_prefix(here);
    offset += here;
  }
  if (piece.empty()) return;
  std::memcpy(reinterpret_cast<uint8_t*>(values_.data()) + (offset - kWtnsHeaderBytes), piece.data(),
              piece.size());
}

void ReceivedInput::Read(uint64_t offset, absl::Span<uint8_t> out) const {
  if (offset < kWtnsHeaderBytes) {
    const size_t here = static_cast<size_t>(std::min<uint64_t>(out.size(), kWtnsHeaderBytes - offset));
    if (here != 0) std::memcpy(out.data(), head_.data() + offset, here);
    out.remove_prefix(here);
    offset += here;
  }
  if (out.empty()) return;
  std::memcpy(out.data(), reinterpret_cast<const uint8_t*>(values_.data()) + (offset - kWtnsHeaderBytes),
              out.size());
}

absl::Status InputSource::ReadAt(uint64_t offset, absl::Span<uint8_t> out) const {
  PROOFMILL_RETURN_IF_ERROR(CheckRange(offset, out.size()));
  bytes_.Read(offset, out);
  return absl::OkStatus();
}

absl::StatusOr<Witness> TakeWtns(ReceivedInput& bytes, uint32_t expected_count) {
  const InputSource source("the witness", bytes);
  PROOFMILL_ASSIGN_OR_RETURN(const WtnsLayout layout, ReadWtnsLayout(source, expected_count));
  const uint64_t values_bytes = layout.count * kValueBytes;
  if (layout.values_offset == kWtnsHeaderBytes && bytes.size() == kWtnsHeaderBytes + values_bytes) {
    return Witness{bytes.TakeValues()};
  }
  Witness witness{SecretBuffer<kernels::U256>(layout.count)};
  bytes.Read(layout.values_offset,
             absl::MakeSpan(reinterpret_cast<uint8_t*>(witness.values.data()), witness.values.size_bytes()));
  return witness;
}

}  // namespace proofmill::engine
