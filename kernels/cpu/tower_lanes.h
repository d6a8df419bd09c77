// Several elements of Fq12 at once, on the types of lanes52.h; each part is kept below 2q. A product is that
// of polynomials in w over Fq2, without Karatsuba's trick: sums of products with one reduction cost less than
// what the trick adds and reduces between.

#ifndef PROOFMILL_KERNELS_CPU_TOWER_LANES_H_
#define PROOFMILL_KERNELS_CPU_TOWER_LANES_H_

#include "kernels/cpu/coordinates_lanes.h"
#include "kernels/curve/tower.h"
#include "kernels/field/bn254_fq2_lanes.h"
#if defined(__AVX512IFMA__)
#include "kernels/field/extension_ifma.h"
#else
#include "kernels/field/extension_fma.h"
#endif

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

using Fq2Lanes = TightFq2<2>;
struct Fq6Lanes {
  Fq2Lanes c0, c1, c2;
};
struct Fq12Lanes {
  Fq6Lanes c0, c1;
};

// ---- Fq2. Products are not inlined: a loop with all of them would outgrow the cache of instructions.

template <uint32_t kA, uint32_t kB>
[[gnu::noinline]] Fq2Lanes Times(const TightFq2<kA>& a, const TightFq2<kB>& b) {
  return Tighten(a * b);
}
template <uint32_t kA>
[[gnu::noinline]] Fq2Lanes Squared(const TightFq2<kA>& a) {
  return Tighten(Square(a));
}
template <uint32_t kA, uint32_t kB>
[[gnu::noinline]] Fq2Lanes TimesFq(const TightFq2<kA>& a, const Tight<FqParams, kB>& b) {
  return {Tighten(a.c0 * b), Tighten(a.c1 * b)};
}
template <uint32_t kA>
[[gnu::noinline]] Fq2Lanes Reduced(const LooseFq2<kA>& a) {
  return {ReduceBelowTwice(a.c0), ReduceBelowTwice(a.c1)};
}
template <template <uint32_t> typename A, uint32_t kA>
PROOFMILL_LANES52_INLINE LooseFq2<3 * kA> Triple(const A<kA>& a) {
  return Double(a) + a;
}
PROOFMILL_LANES52_INLINE Fq2Lanes OneLanes() { return Relax<2>(Coordinates<Fq2>::One()); }

// ---- Fq12.

PROOFMILL_LANES52_INLINE Fq12Lanes OneFq12Lanes() {
  const Fq2Lanes zero{Relax<2>(Zero<FqParams>()), Relax<2>(Zero<FqParams>())};
  return {{OneLanes(), zero, zero}, {zero, zero, zero}};
}

template <uint32_t kBound>
using FactorLanes = ExtensionFactor<FqParams, kBound>;
template <uint32_t kBound>
PROOFMILL_LANES52_INLINE FactorLanes<kBound> FactorOf(const TightFq2<kBound>& x) {
  return {x.c0, x.c1};
}

// The coefficients of a number as a polynomial in w, w^6 = xi: at each the two parts of one.
struct Coefficients {
  const Tight<FqParams, 2>* w[6];

  PROOFMILL_LANES52_INLINE explicit Coefficients(const Fq12Lanes& f)
      : w{&f.c0.c0.c0, &f.c1.c0.c0, &f.c0.c1.c0, &f.c1.c1.c0, &f.c0.c2.c0, &f.c1.c2.c0} {
    static_assert(sizeof(Fq2Lanes) == 2 * sizeof(Tight<FqParams, 2>));
  }
};

// Twice those of w^0, w^1, w^2, w^4 * w^6 and w^5 * w^6, and once those of w^3 * w^6 and so on.
struct SquareFactors {
  FactorLanes<4> twice_w0, twice_w1, twice_w2, twice_w10, twice_w11, w9, w10, w11;
};
// The part of u^kPart of each coefficient of f^2, but for the squares of w^0, w^1 and w^2.
template <int kPart>
PROOFMILL_LANES52_INLINE void SquarePart(const Coefficients& f, const SquareFactors& by,
                                         Tight<FqParams, 2>* out) {
  out[0] = SumOfExtensionProducts<kPart>(by.twice_w11, f.w[1], by.twice_w10, f.w[2], by.w9, f.w[3]);
  out[1] = SumOfExtensionProducts<kPart>(by.twice_w0, f.w[1], by.twice_w11, f.w[2], by.twice_w10, f.w[3]);
  out[2] = SumOfExtensionProducts<kPart>(by.twice_w0, f.w[2], by.twice_w11, f.w[3], by.w10, f.w[4]);
  out[3] = SumOfExtensionProducts<kPart>(by.twice_w0, f.w[3], by.twice_w1, f.w[2], by.twice_w11, f.w[4]);
  out[4] = SumOfExtensionProducts<kPart>(by.twice_w0, f.w[4], by.twice_w1, f.w[3], by.w11, f.w[5]);
  out[5] = SumOfExtensionProducts<kPart>(by.twice_w0, f.w[5], by.twice_w1, f.w[4], by.twice_w2, f.w[3]);
}

[[gnu::noinline]] Fq12Lanes Squared(const Fq12Lanes& f) {
  const Fq2Lanes w9 = Reduced(MulByXi(f.c1.c1));
  const Fq2Lanes w10 = Reduced(MulByXi(f.c0.c2));
  const Fq2Lanes w11 = Reduced(MulByXi(f.c1.c2));
  const auto once = [](const Fq2Lanes& x) { return FactorOf(Relax<4>(x)); };
  const auto twice = [](const Fq2Lanes& x) { return FactorOf(Tighten(Double(x))); };
  const SquareFactors by{twice(f.c0.c0), twice(f.c1.c0), twice(f.c0.c1), twice(w10),
                         twice(w11),     once(w9),       once(w10),      once(w11)};
  Tight<FqParams, 2> of_1[6], of_u[6];
  SquarePart<0>(Coefficients(f), by, of_1);
  SquarePart<1>(Coefficients(f), by, of_u);
  const auto with_square = [&](int i, const Fq2Lanes& root) {
    return Reduced(Squared(root) + Fq2Lanes{of_1[i], of_u[i]});
  };
  return {{with_square(0, f.c0.c0), with_square(2, f.c1.c0), with_square(4, f.c0.c1)},
          {{of_1[1], of_u[1]}, {of_1[3], of_u[3]}, {of_1[5], of_u[5]}}};
}

struct LineFactors {
  FactorLanes<2> a, b, c, xi_b, xi_c;
};
// The part of u^kPart of each coefficient of f * (a + b*w + c*w^3).
template <int kPart>
PROOFMILL_LANES52_INLINE void TimesLinePart(const Coefficients& f, const LineFactors& line,
                                            Tight<FqParams, 2>* out) {
  out[0] = SumOfExtensionProducts<kPart>(line.a, f.w[0], line.xi_b, f.w[5], line.xi_c, f.w[3]);
  out[1] = SumOfExtensionProducts<kPart>(line.a, f.w[1], line.b, f.w[0], line.xi_c, f.w[4]);
  out[2] = SumOfExtensionProducts<kPart>(line.a, f.w[2], line.b, f.w[1], line.xi_c, f.w[5]);
  out[3] = SumOfExtensionProducts<kPart>(line.a, f.w[3], line.b, f.w[2], line.c, f.w[0]);
  out[4] = SumOfExtensionProducts<kPart>(line.a, f.w[4], line.b, f.w[3], line.c, f.w[1]);
  out[5] = SumOfExtensionProducts<kPart>(line.a, f.w[5], line.b, f.w[4], line.c, f.w[2]);
}

// f * (a + b*w + c*w^3).
[[gnu::noinline]] Fq12Lanes TimesLine(const Fq12Lanes& f, const Fq2Lanes& a, const Fq2Lanes& b,
                                      const Fq2Lanes& c) {
  const LineFactors line{FactorOf(a), FactorOf(b), FactorOf(c), FactorOf(Reduced(MulByXi(b))),
                         FactorOf(Reduced(MulByXi(c)))};
  Tight<FqParams, 2> of_1[6], of_u[6];
  TimesLinePart<0>(Coefficients(f), line, of_1);
  TimesLinePart<1>(Coefficients(f), line, of_u);
  return {{{of_1[0], of_u[0]}, {of_1[2], of_u[2]}, {of_1[4], of_u[4]}},
          {{of_1[1], of_u[1]}, {of_1[3], of_u[3]}, {of_1[5], of_u[5]}}};
}

// out[i] = lane i.
PROOFMILL_LANES52_INLINE void Store(const Fq12Lanes& f, Fq12* out) {
  const auto store = [&](const Fq2Lanes& x, Fq2 Fq6::*part, Fq6 Fq12::*half) {
    const TightFq2<1> in_memory = Canonical(TimesFq(x, PowerOfTwo<FqParams, 256>()));
    Coordinates<Fq2>::StoreTo([&](size_t i) { return &(out[i].*half.*part); }, in_memory);
  };
  store(f.c0.c0, &Fq6::c0, &Fq12::c0);
  store(f.c0.c1, &Fq6::c1, &Fq12::c0);
  store(f.c0.c2, &Fq6::c2, &Fq12::c0);
  store(f.c1.c0, &Fq6::c0, &Fq12::c1);
  store(f.c1.c1, &Fq6::c1, &Fq12::c1);
  store(f.c1.c2, &Fq6::c2, &Fq12::c1);
}

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_CPU_TOWER_LANES_H_
