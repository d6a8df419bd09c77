#include "kernels/cpu/curve_check.h"

#include <algorithm>

#include "kernels/field/arithmetic.h"
#if defined(__x86_64__)
#include "kernels/cpu/curve_check_parts.h"
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
  const Arithmetic arithmetic = CurrentArithmetic();
  if (arithmetic == Arithmetic::kIfma || arithmetic == Arithmetic::kFma) {
    checked = n / kCurveCheckGroup * kCurveCheckGroup;
    const bool good = arithmetic == Arithmetic::kIfma ? ifma::AllOnCurve(points, checked, CurveB<F>::kValue)
                                                      : fma::AllOnCurve(points, checked, CurveB<F>::kValue);
    if (!good) return false;
  }
#endif
  return std::all_of(points + checked, points + n,
                     [](const Affine<F>& p) { return IsCanonical(p.x) && IsCanonical(p.y) && IsOnCurve(p); });
}

template bool AllOnCurve(const Affine<Fq>*, size_t);
template bool AllOnCurve(const Affine<Fq2>*, size_t);

}  // namespace proofmill::kernels
