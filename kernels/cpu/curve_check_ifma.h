// The part of curve_check.cc that is compiled for AVX-512 IFMA.

#ifndef PROOFMILL_KERNELS_CPU_CURVE_CHECK_IFMA_H_
#define PROOFMILL_KERNELS_CPU_CURVE_CHECK_IFMA_H_

#include <cstddef>

#include "kernels/curve/weierstrass.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"

namespace proofmill::kernels::ifma {

inline constexpr size_t kCurveCheckLanes = 8;

// As kernels::AllOnCurve(), for groups * kCurveCheckLanes points and the curve y^2 = x^3 + b. REQUIRES:
// Supported(Arithmetic::kIfma).
bool AllOnCurve(const Affine<Fq>* points, size_t groups, const Fq& b);
bool AllOnCurve(const Affine<Fq2>* points, size_t groups, const Fq2& b);

}  // namespace proofmill::kernels::ifma

#endif  // PROOFMILL_KERNELS_CPU_CURVE_CHECK_IFMA_H_
