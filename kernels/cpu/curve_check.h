// Membership of the curve for many points, eight at a time on CPUs with AVX-512 IFMA, four on those with AVX2
// and FMA.
//
// Thread safety: pure functions on the caller's thread.

#ifndef PROOFMILL_KERNELS_CPU_CURVE_CHECK_H_
#define PROOFMILL_KERNELS_CPU_CURVE_CHECK_H_

#include <cstddef>

#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"

namespace proofmill::kernels {

// Whether each of n points has coordinates below q and is infinity or on the curve. Coordinates may be any
// 256-bit integers. Says nothing of the subgroup of G2.
template <typename F>
bool AllOnCurve(const Affine<F>* points, size_t n);

extern template bool AllOnCurve(const Affine<Fq>*, size_t);
extern template bool AllOnCurve(const Affine<Fq2>*, size_t);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_CURVE_CHECK_H_
