// Several elements of Fq2 = Fq[u] / (u^2 + 1) at once, as pairs of the types of lanes52.h, whose rules hold
// here too: bounds are those of both parts. A product is four products of integers and two reductions,
// since with lazy reduction that costs less than Karatsuba's three products with three.

#ifndef PROOFMILL_KERNELS_FIELD_BN254_FQ2_LANES_H_
#define PROOFMILL_KERNELS_FIELD_BN254_FQ2_LANES_H_

#include "kernels/field/bn254_fq.h"
#include "kernels/field/lanes52.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {

template <uint32_t kBound>
struct TightFq2 {
  Tight<FqParams, kBound> c0, c1;
};
template <uint32_t kBound>
struct LooseFq2 {
  Loose<FqParams, kBound> c0, c1;
};

// As the functions of the same names on the parts.
template <uint32_t kHigher, uint32_t kBound>
PROOFMILL_LANES52_INLINE TightFq2<kHigher> Relax(const TightFq2<kBound>& x) {
  return {Relax<kHigher>(x.c0), Relax<kHigher>(x.c1)};
}
template <template <uint32_t> typename A, template <uint32_t> typename B, uint32_t kA, uint32_t kB>
PROOFMILL_LANES52_INLINE LooseFq2<kA + kB> operator+(const A<kA>& a, const B<kB>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1};
}
template <template <uint32_t> typename A, template <uint32_t> typename B, uint32_t kA, uint32_t kB>
PROOFMILL_LANES52_INLINE LooseFq2<kA + kB> operator-(const A<kA>& a, const B<kB>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1};
}
template <template <uint32_t> typename A, uint32_t kBound>
PROOFMILL_LANES52_INLINE LooseFq2<2 * kBound> Double(const A<kBound>& x) {
  return {Double(x.c0), Double(x.c1)};
}
// (9 + u) * a: what Fq6 and Fq12 reduce by.
template <template <uint32_t> typename A, uint32_t kA>
PROOFMILL_LANES52_INLINE LooseFq2<10 * kA> MulByXi(const A<kA>& a) {
  const auto eight = Double(Double(Double(a)));
  return {eight.c0 + a.c0 - a.c1, eight.c1 + a.c1 + a.c0};
}
template <uint32_t kBound>
PROOFMILL_LANES52_INLINE TightFq2<kBound> Tighten(const LooseFq2<kBound>& x) {
  return {Tighten(x.c0), Tighten(x.c1)};
}
template <template <uint32_t> typename A, uint32_t kBound>
PROOFMILL_LANES52_INLINE TightFq2<1> Canonical(const A<kBound>& x) {
  return {Canonical(x.c0), Canonical(x.c1)};
}
PROOFMILL_LANES52_INLINE Mask Equal(const TightFq2<1>& a, const TightFq2<1>& b) {
  return static_cast<Mask>(Equal(a.c0, b.c0) & Equal(a.c1, b.c1));
}
PROOFMILL_LANES52_INLINE Mask IsZero(const TightFq2<1>& x) {
  return static_cast<Mask>(IsZero(x.c0) & IsZero(x.c1));
}

// The bounds multiply to at most 42.
template <uint32_t kA, uint32_t kB>
PROOFMILL_LANES52_INLINE LooseFq2<2> operator*(const TightFq2<kA>& a, const TightFq2<kB>& b) {
  return {DifferenceOfProducts(a.c0, b.c0, a.c1, b.c1), SumOfProducts(a.c0, b.c1, a.c1, b.c0)};
}
// (c0 + c1)(c0 - c1) + 2*c0*c1*u.
template <uint32_t kA>
PROOFMILL_LANES52_INLINE LooseFq2<2> Square(const TightFq2<kA>& a) {
  return {Tighten(a.c0 + a.c1) * Tighten(a.c0 - a.c1), Tighten(Double(a.c0)) * a.c1};
}

}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_FIELD_BN254_FQ2_LANES_H_
