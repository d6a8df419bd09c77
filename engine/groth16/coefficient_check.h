// Whether the points of a key can belong to its coefficients, as far as infinity tells.
//
// A wire without coefficients in A has [A_s(tau)]1 = infinity. A wire with coefficients does not, but for a
// probability of about domain_size / r: its polynomial is not zero, because the Lagrange polynomials of the
// rows are independent. So section 5 holds infinity exactly for the wires without coefficients, and sections
// 6 and 7 likewise for B. A wire with infinity in C, [(beta A_s + alpha B_s + C_s) / delta]1, has infinity in
// A and B too. This finds sections that were zeroed, shifted or taken from another key of the same size.
//
// Records may repeat a place and cancel out, so "without coefficients" means that the records of the wire,
// each times a random factor of its row, sum up to zero. The factors are 64 bits from the kernel's CSPRNG: a
// wire is judged wrongly with probability at most 2^-64.

#ifndef PROOFMILL_ENGINE_GROTH16_COEFFICIENT_CHECK_H_
#define PROOFMILL_ENGINE_GROTH16_COEFFICIENT_CHECK_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/zkey.h"

namespace proofmill::engine {

// What does not fit, in words, for the lowest such wire; nothing when all fits. Needs 64 bytes a wire and 8 a
// row while it runs. REQUIRES: the index ranges that ReadZkey() checks.
//   INTERNAL  no randomness could be had.
absl::StatusOr<std::optional<std::string>> FindCoefficientMismatch(const Zkey& zkey);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_COEFFICIENT_CHECK_H_
