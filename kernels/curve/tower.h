// The tower of BN254's target field: Fq6 = Fq2[v]/(v^3 - xi) and Fq12 = Fq6[w]/(w^2 - v), xi = 9 + u.
//
// Every coefficient is a reduced Montgomery element. Nothing branches on values, except in names that end in
// Vartime. Formulas: Devegili, O hEigeartaigh, Scott and Dahab, "Multiplication and squaring on
// pairing-friendly fields", 2006; cyclotomic squaring by Granger and Scott, 2010.

#ifndef PROOFMILL_KERNELS_CURVE_TOWER_H_
#define PROOFMILL_KERNELS_CURVE_TOWER_H_

#include "kernels/field/bn254_fq2.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// xi * a, xi = 9 + u.
constexpr Fq2 MulByXi(const Fq2& a) {
  const Fq2 eight = a.Double().Double().Double();
  return {eight.c0 + a.c0 - a.c1, eight.c1 + a.c1 + a.c0};
}

// c0 + c1*v + c2*v^2.
struct Fq6 {
  Fq2 c0;
  Fq2 c1;
  Fq2 c2;

  static constexpr Fq6 Zero() { return Fq6{}; }
  static constexpr Fq6 One() { return Fq6{Fq2::One(), Fq2::Zero(), Fq2::Zero()}; }

  constexpr bool IsZero() const { return c0.IsZero() && c1.IsZero() && c2.IsZero(); }
  friend constexpr bool operator==(const Fq6& a, const Fq6& b) {
    return a.c0 == b.c0 && a.c1 == b.c1 && a.c2 == b.c2;
  }
  friend constexpr bool operator!=(const Fq6& a, const Fq6& b) { return !(a == b); }

  friend constexpr Fq6 operator+(const Fq6& a, const Fq6& b) {
    return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
  }
  friend constexpr Fq6 operator-(const Fq6& a, const Fq6& b) {
    return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
  }
  constexpr Fq6 operator-() const { return {-c0, -c1, -c2}; }
  friend constexpr Fq6 operator*(const Fq6& a, const Fq6& b);
  friend constexpr Fq6 operator*(const Fq6& a, const Fq2& b) { return {a.c0 * b, a.c1 * b, a.c2 * b}; }
  constexpr Fq6& operator+=(const Fq6& b) { return *this = *this + b; }
  constexpr Fq6& operator-=(const Fq6& b) { return *this = *this - b; }
  constexpr Fq6& operator*=(const Fq6& b) { return *this = *this * b; }

  constexpr Fq6 Square() const;
  constexpr Fq6 Double() const { return {c0.Double(), c1.Double(), c2.Double()}; }
  // v * this.
  constexpr Fq6 MulByV() const { return {MulByXi(c2), c0, c1}; }
  // this * (b0 + b1*v).
  constexpr Fq6 MulBy01(const Fq2& b0, const Fq2& b1) const;
  // 1 / this; 0 gives 0.
  constexpr Fq6 Inverse() const;
};

// c0 + c1*w.
struct Fq12 {
  Fq6 c0;
  Fq6 c1;

  static constexpr Fq12 Zero() { return Fq12{}; }
  static constexpr Fq12 One() { return Fq12{Fq6::One(), Fq6::Zero()}; }

  constexpr bool IsZero() const { return c0.IsZero() && c1.IsZero(); }
  friend constexpr bool operator==(const Fq12& a, const Fq12& b) { return a.c0 == b.c0 && a.c1 == b.c1; }
  friend constexpr bool operator!=(const Fq12& a, const Fq12& b) { return !(a == b); }

  friend constexpr Fq12 operator+(const Fq12& a, const Fq12& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  friend constexpr Fq12 operator-(const Fq12& a, const Fq12& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  constexpr Fq12 operator-() const { return {-c0, -c1}; }
  // Karatsuba: three products in Fq6.
  friend constexpr Fq12 operator*(const Fq12& a, const Fq12& b) {
    const Fq6 p0 = a.c0 * b.c0;
    const Fq6 p1 = a.c1 * b.c1;
    return {p0 + p1.MulByV(), (a.c0 + a.c1) * (b.c0 + b.c1) - p0 - p1};
  }
  constexpr Fq12& operator+=(const Fq12& b) { return *this = *this + b; }
  constexpr Fq12& operator-=(const Fq12& b) { return *this = *this - b; }
  constexpr Fq12& operator*=(const Fq12& b) { return *this = *this * b; }

  // (c0 + c1)(c0 + v*c1) - (1 + v)*c0*c1 is the constant part. Two products in Fq6.
  constexpr Fq12 Square() const {
    const Fq6 p = c0 * c1;
    return {(c0 + c1) * (c0 + c1.MulByV()) - p - p.MulByV(), p.Double()};
  }
  constexpr Fq12 Double() const { return {c0.Double(), c1.Double()}; }
  // c0 - c1*w: the q^6-power Frobenius, and the inverse of an element whose order divides q^6 + 1.
  constexpr Fq12 Conjugate() const { return {c0, -c1}; }
  // 1 / this; 0 gives 0.
  constexpr Fq12 Inverse() const {
    const Fq6 norm_inverse = (c0.Square() - c1.Square().MulByV()).Inverse();
    return {c0 * norm_inverse, -(c1 * norm_inverse)};
  }
  // this * (a + b*w + c*w^3), the shape of a line at a point of G1 (w^3 = v*w).
  constexpr Fq12 MulByLine(const Fq2& a, const Fq2& b, const Fq2& c) const {
    const Fq6 p0 = c0 * a;
    const Fq6 p1 = c1.MulBy01(b, c);
    return {p0 + p1.MulByV(), (c0 + c1).MulBy01(a + b, c) - p0 - p1};
  }
  // The square of an element of the cyclotomic subgroup (order dividing q^4 - q^2 + 1), where it takes 9
  // squarings in Fq2 in place of 12 products. REQUIRES: this is in that subgroup.
  constexpr Fq12 CyclotomicSquare() const;

  // this^(q^power) for power = 1, 2, 3.
  Fq12 Frobenius(int power) const;
};

// Karatsuba in three terms: six products in Fq2.
constexpr Fq6 operator*(const Fq6& a, const Fq6& b) {
  const Fq2 p0 = a.c0 * b.c0;
  const Fq2 p1 = a.c1 * b.c1;
  const Fq2 p2 = a.c2 * b.c2;
  return {p0 + MulByXi((a.c1 + a.c2) * (b.c1 + b.c2) - p1 - p2),
          (a.c0 + a.c1) * (b.c0 + b.c1) - p0 - p1 + MulByXi(p2),
          (a.c0 + a.c2) * (b.c0 + b.c2) - p0 - p2 + p1};
}

// CH-SQR2 of Chung and Hasan, 2007: two products and three squarings in Fq2.
constexpr Fq6 Fq6::Square() const {
  const Fq2 s0 = c0.Square();
  const Fq2 s1 = (c0 * c1).Double();
  const Fq2 s2 = (c0 - c1 + c2).Square();
  const Fq2 s3 = (c1 * c2).Double();
  const Fq2 s4 = c2.Square();
  return {s0 + MulByXi(s3), s1 + MulByXi(s4), s1 + s2 + s3 - s0 - s4};
}

constexpr Fq6 Fq6::MulBy01(const Fq2& b0, const Fq2& b1) const {
  const Fq2 p0 = c0 * b0;
  const Fq2 p1 = c1 * b1;
  return {p0 + MulByXi((c1 + c2) * b1 - p1), (c0 + c1) * (b0 + b1) - p0 - p1, (c0 + c2) * b0 - p0 + p1};
}

constexpr Fq6 Fq6::Inverse() const {
  const Fq2 t0 = c0.Square() - MulByXi(c1 * c2);
  const Fq2 t1 = MulByXi(c2.Square()) - c0 * c1;
  const Fq2 t2 = c1.Square() - c0 * c2;
  const Fq2 norm_inverse = (c0 * t0 + MulByXi(c2 * t1 + c1 * t2)).Inverse();
  return {t0 * norm_inverse, t1 * norm_inverse, t2 * norm_inverse};
}

namespace internal {
// (a + b*s)^2 for s^2 = xi: the two parts of the result.
struct Fq4Square {
  Fq2 c0;
  Fq2 c1;
  constexpr Fq4Square(const Fq2& a, const Fq2& b) {
    const Fq2 a_squared = a.Square();
    const Fq2 b_squared = b.Square();
    c0 = a_squared + MulByXi(b_squared);
    c1 = (a + b).Square() - a_squared - b_squared;
  }
};
}  // namespace internal

// Granger and Scott, section 3.2, with Fq12 seen as three elements of Fq4 = Fq2[w^3].
constexpr Fq12 Fq12::CyclotomicSquare() const {
  const internal::Fq4Square s0(c0.c0, c1.c1);
  const internal::Fq4Square s1(c1.c0, c0.c2);
  const internal::Fq4Square s2(c0.c1, c1.c2);
  constexpr auto triple_minus_double = [](const Fq2& s, const Fq2& z) { return (s - z).Double() + s; };
  constexpr auto triple_plus_double = [](const Fq2& s, const Fq2& z) { return (s + z).Double() + s; };
  return {{triple_minus_double(s0.c0, c0.c0), triple_minus_double(s1.c0, c0.c1),
           triple_minus_double(s2.c0, c0.c2)},
          {triple_plus_double(MulByXi(s2.c1), c1.c0), triple_plus_double(s0.c1, c1.c1),
           triple_plus_double(s1.c1, c1.c2)}};
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CURVE_TOWER_H_
