#include "kernels/cpu/curve_check_lanes.h"

namespace proofmill::kernels::ifma {

bool AllOnCurve(const Affine<Fq>* points, size_t n, const Fq& b) { return AllOnCurveOf(points, n, b); }
bool AllOnCurve(const Affine<Fq2>* points, size_t n, const Fq2& b) { return AllOnCurveOf(points, n, b); }

}  // namespace proofmill::kernels::ifma
