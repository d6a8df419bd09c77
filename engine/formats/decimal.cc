#include "engine/formats/decimal.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

constexpr size_t kDigitsMax = 78;  // 2^256 - 1 has 78
// The largest power of ten in a word: numbers are taken and given 19 digits at a time.
constexpr uint64_t kChunk = 10'000'000'000'000'000'000u;
constexpr size_t kChunkDigits = 19;

// x = x * factor + addend; false if the result needs more than 256 bits.
bool MultiplyAdd(U256& x, uint64_t factor, uint64_t addend) {
  uint64_t carry = addend;
  for (uint64_t& limb : x.limb) limb = kernels::MulAddCarry(limb, factor, 0, carry);
  return carry == 0;
}

// x = x / kChunk; returns the remainder.
uint64_t DivideByChunk(U256& x) {
  uint64_t remainder = 0;
  for (int i = 3; i >= 0; --i) {
    const kernels::Uint128 part = (kernels::Uint128{remainder} << 64) | x.limb[i];
    x.limb[i] = static_cast<uint64_t>(part / kChunk);
    remainder = static_cast<uint64_t>(part % kChunk);
  }
  return remainder;
}

uint64_t PowerOfTen(size_t exponent) {
  uint64_t power = 1;
  for (size_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

absl::StatusOr<U256> ParseDecimal(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("expected a decimal number, got an empty string");
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return absl::InvalidArgumentError(
        "expected a decimal number, got a string with other characters than digits");
  }
  if (text.size() > 1 && text[0] == '0') {
    return absl::InvalidArgumentError("expected a decimal number, got one with leading zeros");
  }
  if (text.size() > kDigitsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a number below 2^256, got one of ", text.size(), " digits"));
  }

  U256 value;
  while (!text.empty()) {
    const size_t digits = std::min(text.size(), kChunkDigits);
    uint64_t chunk = 0;
    for (const char c : text.substr(0, digits)) chunk = chunk * 10 + static_cast<uint64_t>(c - '0');
    if (!MultiplyAdd(value, PowerOfTen(digits), chunk)) {
      return absl::InvalidArgumentError("expected a number below 2^256, got a larger one");
    }
    text.remove_prefix(digits);
  }
  return value;
}

absl::StatusOr<U256> ParseDecimalBelow(std::string_view text, const U256& bound) {
  PROOFMILL_ASSIGN_OR_RETURN(const U256 value, ParseDecimal(text));
  if (!kernels::Less(value, bound)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a number below ", ToDecimal(bound), ", got one that is not"));
  }
  return value;
}

std::string ToDecimal(const U256& value) {
  std::string reversed;
  U256 rest = value;
  do {
    uint64_t chunk = DivideByChunk(rest);
    for (size_t i = 0; i < kChunkDigits && (chunk != 0 || !rest.IsZero()); ++i) {
      reversed.push_back(static_cast<char>('0' + chunk % 10));
      chunk /= 10;
    }
  } while (!rest.IsZero());
  if (reversed.empty()) reversed.push_back('0');
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace proofmill::engine
