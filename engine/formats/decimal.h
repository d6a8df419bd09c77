// 256-bit integers as decimal strings, the way snarkjs writes them in JSON.
//
// Reading is strict, because two spellings of one number are two identities of one proof: digits only, no
// sign, no "0x", no leading zeros, no spaces, no fraction.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_FORMATS_DECIMAL_H_
#define PROOFMILL_ENGINE_FORMATS_DECIMAL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

// The value of `text`.
//   INVALID_ARGUMENT  not a canonical decimal, or 2^256 and more. The message never repeats the text.
absl::StatusOr<kernels::U256> ParseDecimal(std::string_view text);

// The same, and the value must be below `bound`.
//   INVALID_ARGUMENT  as above, or the value is `bound` or more.
absl::StatusOr<kernels::U256> ParseDecimalBelow(std::string_view text, const kernels::U256& bound);

std::string ToDecimal(const kernels::U256& value);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_DECIMAL_H_
