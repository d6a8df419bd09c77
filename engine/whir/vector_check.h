// Compares this implementation with files of known answers: parameter sets, whole proofs of the pin and of
// the strict profile, and runs of the pin's benchmark without their openings.
//
// Thread safety: pure functions; proofs are made on the device, or with all threads of the current arena.

#ifndef PROOFMILL_ENGINE_WHIR_VECTOR_CHECK_H_
#define PROOFMILL_ENGINE_WHIR_VECTOR_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/whir/device.h"

namespace proofmill::engine {

struct WhirVectorOptions {
  // Proofs are made again up to so many variables, and so many nonces to be tried on average.
  uint32_t prove_variables_max = 30;
  double prove_nonces_max = 1e12;
  // Where they are made.
  WhirDeviceMaker device = {};
};

struct WhirVectorResult {
  bool agrees = false;
  std::string detail;  // what was compared, or the first difference, in one line
};

// `text` is a file in one of these JSON formats: a list of parameter sets of the pin or an object of those of
// strict; an object with `proof` (pin), `proof_hex` (strict) or `openings_digest` (a run without its
// openings).
//   INVALID_ARGUMENT    not one of them.
//   RESOURCE_EXHAUSTED  longer than 256 MiB.
absl::StatusOr<WhirVectorResult> CheckWhirVector(std::string_view text, const WhirVectorOptions& options);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_VECTOR_CHECK_H_
