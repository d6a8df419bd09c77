// One element of Fq12 = Fq2[w] / (w^6 - xi) in a pair of numbers of montgomery_ifma.h: lane k holds the
// coefficient of w^k for k < 6. What lanes 6 and 7 hold means nothing. A lone pairing has no other work for
// the lanes; like this they take the six coefficients of a product side by side.

#include "kernels/cpu/coordinates_lanes.h"
#include "kernels/curve/fq12_parts.h"
#include "kernels/field/bn254_fq2_lanes.h"
#include "kernels/field/extension_ifma.h"

namespace proofmill::kernels::ifma {
namespace {

constexpr int kCoefficients = 6;
constexpr Mask kOddCoefficients = 0b101010;

// Every part is kept below 2q; times 2^260.
using Element = TightFq2<2>;
using Part = Tight<FqParams, 2>;

template <uint32_t kBound>
PROOFMILL_IFMA_INLINE Element Reduced(const LooseFq2<kBound>& x) {
  return {ReduceBelowTwice(x.c0), ReduceBelowTwice(x.c1)};
}

// Lane i is lane index[i] of x.
PROOFMILL_IFMA_INLINE Part Permute(Vector index, const Part& x) {
  Part out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = _mm512_permutexvar_epi64(index, x.limb[j]);
  return out;
}
PROOFMILL_IFMA_INLINE Element Permute(Vector index, const Element& x) {
  return {Permute(index, x.c0), Permute(index, x.c1)};
}
// a in the lanes of `first`, b in the others.
template <uint32_t kBound>
PROOFMILL_IFMA_INLINE Loose<FqParams, kBound> Choose(Mask first, const Loose<FqParams, kBound>& a,
                                                     const Loose<FqParams, kBound>& b) {
  Loose<FqParams, kBound> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = _mm512_mask_mov_epi64(b.limb[j], first, a.limb[j]);
  return out;
}
template <uint32_t kBound>
PROOFMILL_IFMA_INLINE LooseFq2<kBound> Choose(Mask first, const LooseFq2<kBound>& a,
                                              const LooseFq2<kBound>& b) {
  return {Choose(first, a.c0, b.c0), Choose(first, a.c1, b.c1)};
}
template <uint32_t kHigher, template <uint32_t> typename A, uint32_t kBound>
PROOFMILL_IFMA_INLINE LooseFq2<kHigher> AsLoose(const A<kBound>& x) {
  return {Relax<kHigher>(ToLoose(x.c0)), Relax<kHigher>(ToLoose(x.c1))};
}

// ---- Memory: coefficients times 2^256.

PROOFMILL_IFMA_INLINE Element Load(const Fq12* f) {
  const Fq2* const w[kLanes] = {&f->c0.c0, &f->c1.c0, &f->c0.c1, &f->c1.c1,
                                &f->c0.c2, &f->c1.c2, &f->c0.c0, &f->c0.c0};
  const TightFq2<1> x = Coordinates<Fq2>::LoadFrom([&](size_t i) { return w[i]; });
  const auto factor = PowerOfTwo<FqParams, 264>();
  return {Tighten(x.c0 * factor), Tighten(x.c1 * factor)};
}
PROOFMILL_IFMA_INLINE void Store(const Element& x, Fq12* f) {
  uint64_t unused[4];  // no U256: its constructor might be emitted here (montgomery_ifma.h)
  const auto factor = PowerOfTwo<FqParams, 256>();
  const auto store = [&](const Part& part, Fq Fq2::*member) {
    U256* const w[kLanes] = {reinterpret_cast<U256*>(&(f->c0.c0.*member)),
                             reinterpret_cast<U256*>(&(f->c1.c0.*member)),
                             reinterpret_cast<U256*>(&(f->c0.c1.*member)),
                             reinterpret_cast<U256*>(&(f->c1.c1.*member)),
                             reinterpret_cast<U256*>(&(f->c0.c2.*member)),
                             reinterpret_cast<U256*>(&(f->c1.c2.*member)),
                             reinterpret_cast<U256*>(unused),
                             reinterpret_cast<U256*>(unused)};
    StoreTo([&](size_t i) { return w[i]; }, Canonical(part * factor));
  };
  store(x.c0, &Fq2::c0);
  store(x.c1, &Fq2::c1);
}

// ---- Products.

// The lanes of a factor one by one, for products of one lane with all of another number.
struct Scalars {
  alignas(64) uint64_t limb[kLimbs][kLanes];

  template <uint32_t kBound>
  PROOFMILL_IFMA_INLINE explicit Scalars(const Tight<FqParams, kBound>& x) {
    for (int j = 0; j < kLimbs; ++j) _mm512_store_si512(limb[j], x.limb[j]);
  }
};

// The factor that w^k multiplies: at lane i what stands at lane i - k, or xi times what stands at i - k + 6.
template <uint32_t kBound>
struct Turning {
  Tight<FqParams, kBound> x;
  Tight<FqParams, kBound> times_xi;

  PROOFMILL_IFMA_INLINE Vector Limb(int j, int k) const {
    // Lane 8 + i is lane i of times_xi.
    static constexpr uint64_t kWrapped = kLanes + kCoefficients;
    const auto from = [k](uint64_t i) {
      return static_cast<int64_t>(i < static_cast<uint64_t>(k) ? kWrapped + i - static_cast<uint64_t>(k)
                                                               : i - static_cast<uint64_t>(k));
    };
    const Vector index =
        _mm512_setr_epi64(from(0), from(1), from(2), from(3), from(4), from(5), from(5), from(5));
    return _mm512_permutex2var_epi64(x.limb[j], index, times_xi.limb[j]);
  }
};

// The sum over the coefficients of w^k in `kPowers` of `scalars`, each times what `turning` has for it. The
// sum of at most six products: limbs come to 60 units of 2^52.
template <uint32_t kPowers, uint32_t kBound>
[[gnu::noinline]] void SumOfTurns(const Scalars& scalars, const Turning<kBound>& turning, Vector* t) {
  for (int j = 0; j < 2 * kLimbs; ++j) t[j] = _mm512_setzero_si512();
#pragma GCC unroll 6
  for (int k = 0; k < kCoefficients; ++k) {
    if ((kPowers >> k & 1) == 0) continue;
    Tight<FqParams, kBound> turned, scalar;
    for (int j = 0; j < kLimbs; ++j) {
      turned.limb[j] = turning.Limb(j, k);
      scalar.limb[j] = Broadcast(scalars.limb[j][k]);
    }
    AddProduct(t, turned, scalar);
  }
}

// x * y, where of x only the coefficients in kPowers are not zero; over 2^260. Karatsuba's trick in Fq2: with
// the sums S0 of a0*b0, S1 of a1*b1 and S2 of (a0 + a1)(b0 + b1), the parts are S0 - S1 and S2 - S0 - S1.
template <uint32_t kPowers>
[[gnu::noinline]] Element Times(const Element& x, const Element& y) {
  const Element xi_y = Reduced(MulByXi(y));
  Wide<FqParams, 24, 1> s0, s1, s2;
  SumOfTurns<kPowers>(Scalars(x.c0), Turning<2>{y.c0, xi_y.c0}, s0.limb);
  SumOfTurns<kPowers>(Scalars(x.c1), Turning<2>{y.c1, xi_y.c1}, s1.limb);
  SumOfTurns<kPowers>(Scalars(Tighten(x.c0 + x.c1)),
                      Turning<4>{Tighten(y.c0 + y.c1), Tighten(xi_y.c0 + xi_y.c1)}, s2.limb);
  // Six products of two below 2q each. Exactly, so that no multiple of q has to keep it positive. Limbs come
  // to 180 units of 2^52 and 10 of the reduction, more than those of a Wide and a Loose but below 2^63: so
  // Reduce() and Tighten() take them.
  Wide<FqParams, 48, 3> of_u;
  for (int j = 0; j < 2 * kLimbs; ++j)
    of_u.limb[j] = _mm512_sub_epi64(s2.limb[j], _mm512_add_epi64(s0.limb[j], s1.limb[j]));
  return {Tighten(Reduce(s0 - s1)), Tighten(Reduce(of_u))};
}
constexpr uint32_t kAllPowers = 0b111111;
constexpr uint32_t kPowersOfLine = 0b001011;

// x^2 in the cyclotomic subgroup: Granger and Scott, 2010, section 3.2. Of the pairs (a, b) of coefficients
// of w^k and w^(k+3), lanes k < 3 take (a + b)(a + xi*b) and lanes k + 3 take a*b; a^2 + xi*b^2 is the first
// less (1 + xi) times the second.
[[gnu::noinline]] Element CyclotomicSquare(const Element& x) {
  constexpr Mask kLower = 0b000111;
  const Vector halves_swapped = _mm512_setr_epi64(3, 4, 5, 0, 1, 2, 6, 7);
  const Element swapped = Permute(halves_swapped, x);
  const auto xi_b = MulByXi(swapped);
  const Element right = Reduced(Choose(kLower, AsLoose<22>(x + xi_b), AsLoose<22>(x)));
  const TightFq2<4> left = Tighten(Choose(kLower, AsLoose<4>(swapped + x), AsLoose<4>(swapped)));
  const Element product = Tighten(left * right);
  // Where the results go: lane 0 from the pair of w^0, 2 from that of w^1, 4 from that of w^2; and of the
  // products a*b that of w^2 to lane 1, with a factor xi, that of w^0 to lane 3 and that of w^1 to lane 5.
  const Element first = Permute(_mm512_setr_epi64(0, 5, 1, 3, 2, 4, 6, 7), product);
  const Element second = Permute(_mm512_setr_epi64(3, 5, 4, 6, 5, 6, 6, 7), product);
  const auto xi_second = MulByXi(second);
  const auto of_even = first - (second + xi_second);
  const auto of_odd = Choose(0b000010, AsLoose<40>(Double(xi_second)), AsLoose<40>(Double(first)));
  // 3s - 2x at even powers and 3s + 2x at odd ones, as s + 2(s -+ x).
  const Element s = Reduced(Choose(kOddCoefficients, of_odd, AsLoose<40>(of_even)));
  const auto with_x = Choose(kOddCoefficients, AsLoose<4>(s + x), AsLoose<4>(s - x));
  return Reduced(s + Double(with_x));
}

// x to the power q^6, which is the inverse in the cyclotomic subgroup. A part that was 0 becomes 2q, for
// which Times() has room; Store() has not.
PROOFMILL_IFMA_INLINE Element Conjugate(const Element& x) {
  const LooseFq2<2> negative{Negate(x.c0), Negate(x.c1)};
  return Tighten(Choose(kOddCoefficients, negative, AsLoose<2>(x)));
}

}  // namespace

void CyclotomicPower(const Fq12* f, const NonAdjacentForm& exponent, Fq12* out) {
  const Element x = Load(f);
  const Element square = CyclotomicSquare(x);
  Element odd_power[4];  // x, x^3, x^5, x^7
  odd_power[0] = x;
  for (int i = 1; i < 4; ++i) odd_power[i] = Times<kAllPowers>(odd_power[i - 1], square);
  Element power = x;
  for (int i = exponent.length - 2; i >= 0; --i) {
    power = CyclotomicSquare(power);
    const int8_t digit = exponent.digit[i];
    if (digit > 0) power = Times<kAllPowers>(power, odd_power[digit / 2]);
    if (digit < 0) power = Times<kAllPowers>(power, Conjugate(odd_power[-digit / 2]));
  }
  Store(power, out);
}

void LineProduct(const MillerLine* lines, const NonAdjacentForm& loop, Fq12* out) {
  // The lines stay as they are in memory, times 2^256: that makes a factor of 2^-4 of each.
  const auto next_line = [&lines] {
    const Fq2* const w[kLanes] = {&lines->a, &lines->b, &lines->a, &lines->c,
                                  &lines->a, &lines->a, &lines->a, &lines->a};
    const TightFq2<1> line = Coordinates<Fq2>::LoadFrom([&](size_t i) { return w[i]; });
    ++lines;
    return Relax<2>(line);
  };
  Element f{Relax<2>(PowerOfTwo<FqParams, 260>()), Relax<2>(Zero<FqParams>())};
  for (int j = 0; j < kLimbs; ++j) f.c0.limb[j] = _mm512_maskz_mov_epi64(1, f.c0.limb[j]);
  for (int i = loop.length - 2; i >= 0; --i) {
    if (i != loop.length - 2) f = Times<kAllPowers>(f, f);
    f = Times<kPowersOfLine>(next_line(), f);
    if (loop.digit[i] != 0) f = Times<kPowersOfLine>(next_line(), f);
  }
  f = Times<kPowersOfLine>(next_line(), f);
  f = Times<kPowersOfLine>(next_line(), f);
  Store(f, out);
}

}  // namespace proofmill::kernels::ifma
