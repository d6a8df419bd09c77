// Values of Lagrange basis polynomials at one point, for the set-up.
//
// Thread safety: pure functions; each call uses all threads of the current arena.

#ifndef PROOFMILL_ENGINE_GROTH16_LAGRANGE_H_
#define PROOFMILL_ENGINE_GROTH16_LAGRANGE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// An arithmetic progression of basis polynomials: L_j over the roots w^0, w^1, ... of w =
// FrRootOfUnity(log2_n) for j = first, first + step, first + 2 * step, ...
struct LagrangeRange {
  uint32_t log2_n;
  uint64_t first = 0;
  uint64_t step = 1;
};

// out[i] = factor * L_{first + i * step}(tau) = factor * w^j * (tau^n - 1) / (n * (tau - w^j)), i < count.
// REQUIRES: log2_n <= 28; tau is not a 2^log2_n-th root of unity.
void LagrangeAt(const LagrangeRange& range, const kernels::Fr& tau, const kernels::Fr& factor,
                kernels::Fr* out, size_t count);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_LAGRANGE_H_
