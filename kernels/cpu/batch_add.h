// Many independent additions of affine points with one inversion for all: 5 products and a square an
// addition, where XYZZ coordinates take 8 and 2.

#ifndef PROOFMILL_KERNELS_CPU_BATCH_ADD_H_
#define PROOFMILL_KERNELS_CPU_BATCH_ADD_H_

#include <cstddef>
#include <cstdint>

#include "kernels/curve/weierstrass.h"

namespace proofmill::kernels {

// points[target] += points[other].
struct PointPair {
  uint32_t target;
  uint32_t other;
};

namespace internal {

// What AddAffine() needs the inverse of: the denominator of the slope, or 1 where there is no slope. Never
// zero, since a curve of odd order has no point with y = 0.
template <typename F>
F SlopeDenominator(const Affine<F>& a, const Affine<F>& b) {
  if (a.IsInfinity() || b.IsInfinity()) return F::One();
  const F dx = b.x - a.x;
  if (!dx.IsZero()) return dx;
  return a.y == b.y ? a.y.Double() : F::One();
}

// a + b, given the inverse of SlopeDenominator(a, b).
template <typename F>
Affine<F> AddAffine(const Affine<F>& a, const Affine<F>& b, const F& inverse) {
  if (a.IsInfinity()) return b;
  if (b.IsInfinity()) return a;
  F slope;
  if (a.x != b.x) {
    slope = (b.y - a.y) * inverse;
  } else {
    if (a.y != b.y) return Affine<F>::Infinity();
    const F x_squared = a.x.Square();
    slope = (x_squared.Double() + x_squared) * inverse;
  }
  const F x = slope.Square() - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

}  // namespace internal

// Does all n additions; exact for equal, opposite and infinite operands. `products` is scratch for n
// elements. REQUIRES: the points are on a curve of odd order; no point is in two pairs.
template <typename F>
void AddPairs(Affine<F>* points, const PointPair* pairs, size_t n, F* products) {
  F product = F::One();
  for (size_t i = 0; i < n; ++i) {
    products[i] = product;
    product *= internal::SlopeDenominator(points[pairs[i].target], points[pairs[i].other]);
  }
  F inverse = product.Inverse();  // of the product of all denominators up to i
  for (size_t i = n; i-- > 0;) {
    Affine<F>& a = points[pairs[i].target];
    const Affine<F>& b = points[pairs[i].other];
    const F inverse_of_denominator = inverse * products[i];
    inverse *= internal::SlopeDenominator(a, b);
    a = internal::AddAffine(a, b, inverse_of_denominator);
  }
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_BATCH_ADD_H_
