// The polynomials of a constraint system's wires at one point, for the set-up.
//
// Thread safety: pure functions; they run on the thread arena of the caller.

#ifndef PROOFMILL_ENGINE_GROTH16_WIRE_POLYNOMIALS_H_
#define PROOFMILL_ENGINE_GROTH16_WIRE_POLYNOMIALS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "engine/base/host_buffer.h"
#include "engine/groth16/constraint_system.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// A_s(tau), B_s(tau) and C_s(tau) for every wire s: the QAP at the secret point.
struct WirePolynomials {
  HostBuffer<kernels::Fr> a, b, c;
  uint64_t n_coefs = 0;  // records that section 4 of the key will have
};

struct WireEvaluation {
  uint32_t log2_domain;
  kernels::Fr tau;
  size_t block_rows;  // constraints in memory at a time
  std::function<void(double done)> progress;
};

// REQUIRES: the domain holds constraints + n_public + 1 rows, and tau is outside of it.
//   INVALID_ARGUMENT  more coefficients than the format can count.
absl::StatusOr<WirePolynomials> EvaluateWires(const ConstraintSystem& system, const WireEvaluation& options);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_WIRE_POLYNOMIALS_H_
