// Element-wise operations on vectors of Fr, multi-threaded. Elements are in Montgomery form, fully reduced,
// unless said. Time depends on the sizes alone, not on the values.
//
// Thread safety: pure functions of their arguments; each call uses all threads of the current arena.

#ifndef PROOFMILL_KERNELS_CPU_POINTWISE_H_
#define PROOFMILL_KERNELS_CPU_POINTWISE_H_

#include <cstddef>

#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// out[i] = a[i] * b[i] for i < n. `out` may be equal to `a` or `b`, but must not overlap them otherwise.
void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n);

// out[i] = Fr::FromMontgomery(plain integer of a[i] * b[i] - c[i]): the quotient step of Groth16, whose
// results are the scalars of an MSM. `out` may be equal to `a`, `b` or `c`.
void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n);

// The same of a part of the vectors on one thread and several lanes. REQUIRES: n is a multiple of 8;
// Supported() of Arithmetic::kIfma or kFma.
namespace ifma {
void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n);
void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n);
}  // namespace ifma
namespace fma {
void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n);
void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n);
}  // namespace fma

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_POINTWISE_H_
