// The parts of curve_check.cc that are compiled for AVX-512 IFMA, and for AVX2 and FMA.

#ifndef PROOFMILL_KERNELS_CPU_CURVE_CHECK_PARTS_H_
#define PROOFMILL_KERNELS_CPU_CURVE_CHECK_PARTS_H_

#include <cstddef>

#include "kernels/curve/weierstrass.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"

namespace proofmill::kernels {

// They take whole groups of so many points.
inline constexpr size_t kCurveCheckGroup = 8;

// As kernels::AllOnCurve(), for the curve y^2 = x^3 + b. REQUIRES: n is a multiple of kCurveCheckGroup;
// Supported() of Arithmetic::kIfma or kFma.
namespace ifma {
bool AllOnCurve(const Affine<Fq>* points, size_t n, const Fq& b);
bool AllOnCurve(const Affine<Fq2>* points, size_t n, const Fq2& b);
}  // namespace ifma
namespace fma {
bool AllOnCurve(const Affine<Fq>* points, size_t n, const Fq& b);
bool AllOnCurve(const Affine<Fq2>* points, size_t n, const Fq2& b);
}  // namespace fma

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_CURVE_CHECK_PARTS_H_
