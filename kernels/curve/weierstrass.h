// Short Weierstrass curves y^2 = x^3 + b (a = 0) over a field F, in affine and XYZZ coordinates. Usable on
// host and device.
//
// Affine points have the layout of a .zkey: x then y in Montgomery form, and infinity as (0, 0), which lies
// on neither of our curves. XYZZ coordinates (X, Y, ZZ, ZZZ) stand for x = X/ZZ, y = Y/ZZZ with ZZ^3 = ZZZ^2;
// infinity has ZZ = 0. Formulas are those of the Explicit-Formulas Database, "g1p/shortw-xyzz" (Sutherland).
//
// All functions are complete: equal, opposite and infinite operands give the exact result. They branch on
// such cases, so their time depends on the points.

#ifndef PROOFMILL_KERNELS_CURVE_WEIERSTRASS_H_
#define PROOFMILL_KERNELS_CURVE_WEIERSTRASS_H_

#include <cstddef>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

template <typename F>
struct Affine {
  using Field = F;
  F x;
  F y;

  static PROOFMILL_HD constexpr Affine Infinity() { return Affine{}; }
  PROOFMILL_HD constexpr bool IsInfinity() const { return x.IsZero() && y.IsZero(); }
  PROOFMILL_HD constexpr Affine operator-() const { return {x, -y}; }
  friend PROOFMILL_HD constexpr bool operator==(const Affine& a, const Affine& b) {
    return a.x == b.x && a.y == b.y;
  }
  friend PROOFMILL_HD constexpr bool operator!=(const Affine& a, const Affine& b) { return !(a == b); }
};

template <typename F>
struct Xyzz {
  using Field = F;
  F x;
  F y;
  F zz;
  F zzz;

  static PROOFMILL_HD constexpr Xyzz Infinity() { return Xyzz{}; }
  static PROOFMILL_HD constexpr Xyzz FromAffine(const Affine<F>& p) {
    if (p.IsInfinity()) return Infinity();
    return {p.x, p.y, F::One(), F::One()};
  }
  PROOFMILL_HD constexpr bool IsInfinity() const { return zz.IsZero(); }

  // One inversion; for many points use BatchToAffine.
  PROOFMILL_HD constexpr Affine<F> ToAffine() const {
    if (IsInfinity()) return Affine<F>::Infinity();
    const F zzz_inverse = zzz.Inverse();
    // 1/ZZ = (ZZ / ZZZ)^2, since ZZ^3 = ZZZ^2.
    return {x * (zz * zzz_inverse).Square(), y * zzz_inverse};
  }
  PROOFMILL_HD constexpr Xyzz operator-() const { return {x, -y, zz, zzz}; }

  // dbl-2008-s-1 with a = 0: 6M + 3S.
  PROOFMILL_HD constexpr Xyzz Double() const {
    if (IsInfinity()) return *this;
    const F u = y.Double();
    const F v = u.Square();
    const F w = u * v;
    const F s = x * v;
    const F x_squared = x.Square();
    const F m = x_squared.Double() + x_squared;
    const F x3 = m.Square() - s.Double();
    return {x3, F::DifferenceOfProducts(m, s - x3, w, y), v * zz, w * zzz};
  }

  // madd-2008-s: 8M + 2S.
  friend PROOFMILL_HD constexpr Xyzz operator+(const Xyzz& a, const Affine<F>& b) {
    if (b.IsInfinity()) return a;
    if (a.IsInfinity()) return FromAffine(b);
    const F p = b.x * a.zz - a.x;
    const F r = b.y * a.zzz - a.y;
    if (p.IsZero()) return r.IsZero() ? FromAffine(b).Double() : Infinity();
    const F pp = p.Square();
    const F ppp = p * pp;
    const F q = a.x * pp;
    const F x3 = r.Square() - ppp - q.Double();
    return {x3, F::DifferenceOfProducts(r, q - x3, a.y, ppp), a.zz * pp, a.zzz * ppp};
  }

  // add-2008-s: 12M + 2S.
  friend PROOFMILL_HD constexpr Xyzz operator+(const Xyzz& a, const Xyzz& b) {
    if (b.IsInfinity()) return a;
    if (a.IsInfinity()) return b;
    const F u1 = a.x * b.zz;
    const F s1 = a.y * b.zzz;
    const F p = b.x * a.zz - u1;
    const F r = b.y * a.zzz - s1;
    if (p.IsZero()) return r.IsZero() ? a.Double() : Infinity();
    const F pp = p.Square();
    const F ppp = p * pp;
    const F q = u1 * pp;
    const F x3 = r.Square() - ppp - q.Double();
    return {x3, F::DifferenceOfProducts(r, q - x3, s1, ppp), a.zz * b.zz * pp, a.zzz * b.zzz * ppp};
  }
  PROOFMILL_HD constexpr Xyzz& operator+=(const Affine<F>& b) { return *this = *this + b; }
  PROOFMILL_HD constexpr Xyzz& operator+=(const Xyzz& b) { return *this = *this + b; }

  // Equality of points, not of coordinates.
  friend PROOFMILL_HD constexpr bool operator==(const Xyzz& a, const Xyzz& b) {
    if (a.IsInfinity() || b.IsInfinity()) return a.IsInfinity() == b.IsInfinity();
    return a.x * b.zz == b.x * a.zz && a.y * b.zzz == b.y * a.zzz;
  }
  friend PROOFMILL_HD constexpr bool operator!=(const Xyzz& a, const Xyzz& b) { return !(a == b); }
};

// scalar * p by double and add; `scalar` is a plain integer, not reduced. Time depends on the scalar.
template <typename F>
PROOFMILL_HD constexpr Xyzz<F> ScalarMulVartime(const Xyzz<F>& p, const U256& scalar) {
  Xyzz<F> out = Xyzz<F>::Infinity();
  for (int i = 255; i >= 0; --i) {
    out = out.Double();
    if (scalar.Bit(static_cast<size_t>(i)) != 0) out += p;
  }
  return out;
}

// out[i] = p[i] in affine form for i < n, with one inversion for all (Montgomery's trick). Infinities are
// kept. `out` must not overlap `p`.
template <typename F>
void BatchToAffine(const Xyzz<F>* p, Affine<F>* out, size_t n) {
  // out[i].x holds the product of the zzz before i until the way back.
  F product = F::One();
  for (size_t i = 0; i < n; ++i) {
    out[i].x = product;
    if (!p[i].IsInfinity()) product *= p[i].zzz;
  }
  F inverse = product.Inverse();
  for (size_t i = n; i-- > 0;) {
    if (p[i].IsInfinity()) {
      out[i] = Affine<F>::Infinity();
      continue;
    }
    const F zzz_inverse = inverse * out[i].x;
    inverse *= p[i].zzz;
    out[i] = {p[i].x * (p[i].zz * zzz_inverse).Square(), p[i].y * zzz_inverse};
  }
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CURVE_WEIERSTRASS_H_
