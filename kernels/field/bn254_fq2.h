// Fq2 = Fq[u] / (u^2 + 1): coordinates of G2 points. An element is c0 + c1*u; both parts in Montgomery form,
// fully reduced.

#ifndef PROOFMILL_KERNELS_FIELD_BN254_FQ2_H_
#define PROOFMILL_KERNELS_FIELD_BN254_FQ2_H_

#include "kernels/field/bn254_fq.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

struct Fq2 {
  Fq c0;
  Fq c1;

  static PROOFMILL_HD constexpr Fq2 Zero() { return Fq2{}; }
  static PROOFMILL_HD constexpr Fq2 One() { return Fq2{Fq::One(), Fq::Zero()}; }

  PROOFMILL_HD constexpr bool IsZero() const { return c0.IsZero() && c1.IsZero(); }
  friend PROOFMILL_HD constexpr bool operator==(const Fq2& a, const Fq2& b) {
    return a.c0 == b.c0 && a.c1 == b.c1;
  }
  friend PROOFMILL_HD constexpr bool operator!=(const Fq2& a, const Fq2& b) { return !(a == b); }

  friend PROOFMILL_HD constexpr Fq2 operator+(const Fq2& a, const Fq2& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  friend PROOFMILL_HD constexpr Fq2 operator-(const Fq2& a, const Fq2& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  PROOFMILL_HD constexpr Fq2 operator-() const { return {-c0, -c1}; }
  // Karatsuba: (a0 + a1)(b0 + b1) - a0*b0 - a1*b1 is the coefficient of u. Three products in Fq. On a device
  // two sums of two products, which reduce once each.
  friend PROOFMILL_HD constexpr Fq2 operator*(const Fq2& a, const Fq2& b) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      U256 c0, c1;
      device::MulExtension<FqParams>(a.c0.montgomery(), a.c1.montgomery(), b.c0.montgomery(),
                                     b.c1.montgomery(), c0, c1);
      return {Fq::FromMontgomery(c0), Fq::FromMontgomery(c1)};
    }
#endif
    const Fq p0 = a.c0 * b.c0;
    const Fq p1 = a.c1 * b.c1;
    return {p0 - p1, (a.c0 + a.c1) * (b.c0 + b.c1) - p0 - p1};
  }
  PROOFMILL_HD constexpr Fq2& operator+=(const Fq2& b) { return *this = *this + b; }
  PROOFMILL_HD constexpr Fq2& operator-=(const Fq2& b) { return *this = *this - b; }
  PROOFMILL_HD constexpr Fq2& operator*=(const Fq2& b) { return *this = *this * b; }
  friend PROOFMILL_HD constexpr Fq2 operator*(const Fq2& a, const Fq& b) { return {a.c0 * b, a.c1 * b}; }

  static PROOFMILL_HD constexpr Fq2 DifferenceOfProducts(const Fq2& a, const Fq2& b, const Fq2& c,
                                                         const Fq2& d) {
    return a * b - c * d;
  }

  // (c0 + c1)(c0 - c1) + 2*c0*c1*u. Two products in Fq.
  PROOFMILL_HD constexpr Fq2 Square() const {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      U256 d0, d1;
      device::SquareExtension<FqParams>(c0.montgomery(), c1.montgomery(), d0, d1);
      return {Fq::FromMontgomery(d0), Fq::FromMontgomery(d1)};
    }
#endif
    return {(c0 + c1) * (c0 - c1), (c0 * c1).Double()};
  }
  PROOFMILL_HD constexpr Fq2 Double() const { return {c0.Double(), c1.Double()}; }
  // c0 - c1*u, which is also the q-power Frobenius.
  PROOFMILL_HD constexpr Fq2 Conjugate() const { return {c0, -c1}; }
  // 1 / this; 0 gives 0.
  PROOFMILL_HD constexpr Fq2 Inverse() const {
    const Fq norm_inverse = (c0.Square() + c1.Square()).Inverse();
    return {c0 * norm_inverse, -(c1 * norm_inverse)};
  }
};
static_assert(sizeof(Fq2) == 64, "files hold G2 coordinates as c0 then c1 without padding");

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_BN254_FQ2_H_
