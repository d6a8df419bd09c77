#include "kernels/cpu/curve_check_lanes.h"

namespace proofmill::kernels::fma {
namespace {

template <typename F>
[[gnu::noinline]] bool AllOnCurveRounded(const Affine<F>* points, size_t n, const F& b) {
  return AllOnCurveOf(points, n, b);
}

}  // namespace

bool AllOnCurve(const Affine<Fq>* points, size_t n, const Fq& b) {
  const RoundTowardZero rounding;
  return AllOnCurveRounded(points, n, b);
}
bool AllOnCurve(const Affine<Fq2>* points, size_t n, const Fq2& b) {
  const RoundTowardZero rounding;
  return AllOnCurveRounded(points, n, b);
}

}  // namespace proofmill::kernels::fma
