#include "kernels/cpu/curve_check.h"

#include <algorithm>

#include "kernels/field/arithmetic.h"
#if defined(__x86_64__)
#include "kernels/cpu/curve_check_ifma.h"
#endif

namespace proofmill::kernels {
namespace {

bool IsCanonical(const Fq& x) { return Fq::IsCanonical(x.montgomery()); }
bool IsCanonical(const Fq2& x) { return IsCanonical(x.c0) && IsCanonical(x.c1); }

}  // namespace

template <typename F>
bool AllOnCurve(const Affine<F>* points, size_t n) {
  size_t checked = 0;
#if defined(__x86_64__)
  if (CurrentArithmetic() == Arithmetic::kIfma) {
    if (!ifma::AllOnCurve(points, n / ifma::kCurveCheckLanes, CurveB<F>::kValue)) return false;
    checked = n / ifma::kCurveCheckLanes * ifma::kCurveCheckLanes;
  }
#endif
  return std::all_of(points + checked, points + n,
                     [](const Affine<F>& p) { return IsCanonical(p.x) && IsCanonical(p.y) && IsOnCurve(p); });
}

template bool AllOnCurve(const Affine<Fq>*, size_t);
template bool AllOnCurve(const Affine<Fq2>*, size_t);

}  // namespace proofmill::kernels
