// The extensions of BabyBear of degree 4, F[X]/(X^4 - 11), and 5, F[X]/(X^5 - 2). Usable on host and device.
//
// An element is its coefficients, that of X^0 first. Nothing here branches on the value of an element.

#ifndef PROOFMILL_KERNELS_FIELD_BABYBEAR_EXT_H_
#define PROOFMILL_KERNELS_FIELD_BABYBEAR_EXT_H_

#include <cstdint>

#include "kernels/field/babybear.h"

namespace proofmill::kernels {

template <int kDegree>
struct BabyBearExt {
  static_assert(kDegree == 4 || kDegree == 5);
  static constexpr int kD = kDegree;
  // w of X^kD = w.
  static constexpr uint32_t kNonResidue = kDegree == 4 ? 11 : 2;

  BabyBear c[kDegree];

  static PROOFMILL_HD constexpr BabyBearExt Zero() { return BabyBearExt{}; }
  static PROOFMILL_HD constexpr BabyBearExt One() { return FromBase(BabyBear::One()); }
  static PROOFMILL_HD constexpr BabyBearExt FromBase(BabyBear x) {
    BabyBearExt out{};
    out.c[0] = x;
    return out;
  }

  friend PROOFMILL_HD constexpr bool operator==(const BabyBearExt& a, const BabyBearExt& b) {
    bool equal = true;
    for (int i = 0; i < kD; ++i) equal = equal && a.c[i] == b.c[i];
    return equal;
  }
  friend PROOFMILL_HD constexpr bool operator!=(const BabyBearExt& a, const BabyBearExt& b) {
    return !(a == b);
  }

  friend PROOFMILL_HD constexpr BabyBearExt operator+(const BabyBearExt& a, const BabyBearExt& b) {
    BabyBearExt out{};
    for (int i = 0; i < kD; ++i) out.c[i] = a.c[i] + b.c[i];
    return out;
  }
  friend PROOFMILL_HD constexpr BabyBearExt operator-(const BabyBearExt& a, const BabyBearExt& b) {
    BabyBearExt out{};
    for (int i = 0; i < kD; ++i) out.c[i] = a.c[i] - b.c[i];
    return out;
  }
  friend PROOFMILL_HD constexpr BabyBearExt operator*(const BabyBearExt& a, BabyBear b) {
    BabyBearExt out{};
    for (int i = 0; i < kD; ++i) out.c[i] = a.c[i] * b;
    return out;
  }
  // The product of the polynomials, with X^(kD + i) folded into w * X^i.
  friend PROOFMILL_HD constexpr BabyBearExt operator*(const BabyBearExt& a, const BabyBearExt& b) {
    constexpr BabyBear w = BabyBear::FromCanonical(kNonResidue);
    BabyBear low[kD] = {}, high[kD] = {};
    for (int i = 0; i < kD; ++i) {
      for (int j = 0; j < kD; ++j) {
        BabyBear& sum = i + j < kD ? low[i + j] : high[i + j - kD];
        sum += a.c[i] * b.c[j];
      }
    }
    BabyBearExt out{};
    for (int i = 0; i < kD; ++i) out.c[i] = low[i] + w * high[i];
    return out;
  }
  PROOFMILL_HD constexpr BabyBearExt operator-() const { return Zero() - *this; }
  PROOFMILL_HD constexpr BabyBearExt& operator+=(const BabyBearExt& other) { return *this = *this + other; }
  PROOFMILL_HD constexpr BabyBearExt& operator-=(const BabyBearExt& other) { return *this = *this - other; }
  PROOFMILL_HD constexpr BabyBearExt& operator*=(const BabyBearExt& other) { return *this = *this * other; }

  // x -> x^p, coefficient by coefficient: X^p = w^((p - 1) / kD) * X.
  PROOFMILL_HD constexpr BabyBearExt Frobenius() const {
    static_assert((kBabyBearP - 1) % kD == 0);
    constexpr BabyBear root = BabyBear::FromCanonical(kNonResidue).Pow((kBabyBearP - 1) / kD);
    BabyBearExt out{};
    BabyBear factor = BabyBear::One();
    for (int i = 0; i < kD; ++i) {
      out.c[i] = c[i] * factor;
      factor *= root;
    }
    return out;
  }

  // The inverse, and zero of zero: x^-1 = (x^p x^(p^2) ..) / norm(x), the norm being the product of all
  // conjugates, which lies in the base field (Itoh and Tsujii 1988).
  PROOFMILL_HD constexpr BabyBearExt Inverse() const {
    BabyBearExt conjugates = Frobenius(), power = conjugates;
    for (int i = 2; i < kD; ++i) {
      power = power.Frobenius();
      conjugates *= power;
    }
    const BabyBear norm = (*this * conjugates).c[0];
    return conjugates * norm.Inverse();
  }
};
using BabyBearExt4 = BabyBearExt<4>;
using BabyBearExt5 = BabyBearExt<5>;
static_assert(sizeof(BabyBearExt4) == 16 && sizeof(BabyBearExt5) == 20);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_BABYBEAR_EXT_H_
