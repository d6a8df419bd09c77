// Whether points are on their curve, one in each lane.

#ifndef PROOFMILL_KERNELS_CPU_CURVE_CHECK_LANES_H_
#define PROOFMILL_KERNELS_CPU_CURVE_CHECK_LANES_H_

#include "kernels/cpu/coordinates_lanes.h"
#include "kernels/cpu/curve_check_parts.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

template <uint32_t kA, uint32_t kB>
PROOFMILL_LANES52_INLINE Mask SameLimbs(const TightFq2<kA>& a, const TightFq2<kB>& b) {
  return static_cast<Mask>(SameLimbs(a.c0, b.c0) & SameLimbs(a.c1, b.c1));
}

template <uint32_t kA, uint32_t kB>
PROOFMILL_LANES52_INLINE Loose<FqParams, 2> Times(const Tight<FqParams, kA>& a,
                                                  const Tight<FqParams, kB>& b) {
  return a * b;
}
template <uint32_t kA, uint32_t kB>
PROOFMILL_LANES52_INLINE LooseFq2<2> Times(const TightFq2<kA>& a, const Tight<FqParams, kB>& b) {
  return {a.c0 * b, a.c1 * b};
}

// Memory holds x * 2^256, and a product of lanes divides by 2^260: x^3 comes out times 2^248, and so must the
// others.
template <typename F>
bool AllOnCurveOf(const Affine<F>* points, size_t n, const F& b_in_memory) {
  using C = Coordinates<F>;
  constexpr uint32_t kAny = 6;  // 2^256 < 6q
  const auto b =
      Tighten(Times(C::LoadFrom([&](size_t) { return &b_in_memory; }), PowerOfTwo<FqParams, 252>()));
  for (size_t g = 0; g < n / kLanes; ++g) {
    const Affine<F>* const p = points + g * kLanes;
    const auto any_x = C::template LoadFrom<kAny>([&](size_t i) { return &p[i].x; });
    const auto any_y = C::template LoadFrom<kAny>([&](size_t i) { return &p[i].y; });
    const auto x = Canonical(any_x);
    const auto y = Canonical(any_y);
    const Mask canonical = static_cast<Mask>(SameLimbs(x, any_x) & SameLimbs(y, any_y));
    const Mask infinity = static_cast<Mask>(IsZero(x) & IsZero(y));
    const auto y_squared = Times(Tighten(Square(y)), PowerOfTwo<FqParams, 256>());
    const auto x_cubed = Tighten(Square(x)) * x;
    const Mask on_curve = IsZero(Canonical(y_squared - (x_cubed + b)));
    if ((canonical & (on_curve | infinity)) != kAllLanes) return false;
  }
  return true;
}

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_CPU_CURVE_CHECK_LANES_H_
