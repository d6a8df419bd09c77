// Points of y^2 = x^3 + b by chord and tangent with a division each: the oracle of the XYZZ formulas.

#ifndef PROOFMILL_TESTS_ORACLE_AFFINE_CURVE_H_
#define PROOFMILL_TESTS_ORACLE_AFFINE_CURVE_H_

#include <cstddef>

#include "kernels/curve/weierstrass.h"
#include "kernels/field/limbs.h"

namespace proofmill::oracle {

template <typename F>
kernels::Affine<F> AddPoints(const kernels::Affine<F>& a, const kernels::Affine<F>& b) {
  if (a.IsInfinity()) return b;
  if (b.IsInfinity()) return a;
  F slope;
  if (a.x == b.x) {
    if (a.y != b.y || a.y.IsZero()) return kernels::Affine<F>::Infinity();
    slope = (a.x * a.x + a.x * a.x + a.x * a.x) * (a.y + a.y).Inverse();
  } else {
    slope = (b.y - a.y) * (b.x - a.x).Inverse();
  }
  const F x = slope * slope - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

// k * p by double and add.
template <typename F>
kernels::Affine<F> MultiplyPoint(const kernels::Affine<F>& p, const kernels::U256& k) {
  kernels::Affine<F> out = kernels::Affine<F>::Infinity();
  for (size_t i = 256; i-- > 0;) {
    out = AddPoints(out, out);
    if (k.Bit(i) != 0) out = AddPoints(out, p);
  }
  return out;
}

}  // namespace proofmill::oracle

#endif  // PROOFMILL_TESTS_ORACLE_AFFINE_CURVE_H_
