// Four elements of a prime field at once, in AVX2 and FMA, on the products of products_fma.h.
//
// Types, bounds and Montgomery factor are those of montgomery_ifma.h, where they are explained:
//   Tight<P, k>    lanes in [0, k*p), limbs in [0, 2^52);
//   Loose<P, k>    lanes in [0, k*p), limbs below (24k - 1) * 2^52.
// But limbs are never negative, except the highest one: AVX2 has no arithmetic shift of 64-bit lanes. So a
// difference adds a multiple of p in whose limbs (but the highest) those of the subtrahend fit; with that the
// bounds add up as there. And the reduction adds up to 1.13 * 2^260 * p, so that the bounds of factors
// multiply to less: kProductBoundMax.
//
// No instruction of this file may reach a CPU that lacks it: what montgomery_ifma.h says of its translation
// units holds for those that include this (proofmill_fma_sources(), Supported(Arithmetic::kFma)).
//
// Time does not depend on the values.

#ifndef PROOFMILL_KERNELS_FIELD_MONTGOMERY_FMA_H_
#define PROOFMILL_KERNELS_FIELD_MONTGOMERY_FMA_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/products_fma.h"

namespace proofmill::kernels::fma {

// floor(2^260 / p) for both fields of BN254.
inline constexpr uint32_t kBoundMax = 84;
// What the bounds of factors may multiply to, so that a product is below 2p.
inline constexpr uint32_t kProductBoundMax = 73;

using Mask = uint8_t;  // bit i for lane i
inline constexpr Mask kAllLanes = 0xf;

// ---- Numbers.

template <typename Params, uint32_t kBound>
struct Tight {
  static_assert(kBound >= 1 && kBound <= kBoundMax, "the number would not fit in 260 bits");
  Vector limb[kLimbs];
};

template <typename Params, uint32_t kBound>
struct Loose {
  static_assert(kBound >= 1 && kBound <= kBoundMax, "the number would not fit in 260 bits");
  Vector limb[kLimbs];

  Loose() = default;
  // Tight numbers, and those of a lower bound, pass for loose ones.
  template <uint32_t kLower>
  PROOFMILL_FMA_INLINE Loose(const Tight<Params, kLower>& x) {  // NOLINT(google-explicit-constructor)
    static_assert(kLower <= kBound);
    for (int j = 0; j < kLimbs; ++j) limb[j] = x.limb[j];
  }
};

// The same numbers under a higher bound.
template <uint32_t kHigher, typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, kHigher> Relax(const Tight<Params, kBound>& x) {
  static_assert(kHigher >= kBound);
  Tight<Params, kHigher> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = x.limb[j];
  return out;
}
template <uint32_t kHigher, typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Loose<Params, kHigher> Relax(const Loose<Params, kBound>& x) {
  static_assert(kHigher >= kBound);
  Loose<Params, kHigher> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = x.limb[j];
  return out;
}

// The constant x in every lane. REQUIRES: x < p.
template <typename Params>
PROOFMILL_FMA_INLINE Tight<Params, 1> Constant(const Digits& x) {
  Tight<Params, 1> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = Broadcast(x.limb[j]);
  return out;
}
template <typename Params>
PROOFMILL_FMA_INLINE Tight<Params, 1> Zero() {
  return Constant<Params>(Digits{});
}
// 2^kExponent mod p in every lane. The one of this form is PowerOfTwo<Params, 260>().
template <typename Params, uint32_t kExponent>
PROOFMILL_FMA_INLINE Tight<Params, 1> PowerOfTwo() {
  constexpr Digits value = ToDigits(PowerOfTwoModulo<Params>(kExponent));
  return Constant<Params>(value);
}

// ---- Memory: integers below 2^256 as four 64-bit words, one after another or anywhere.

// Words, vector i holding word i of each lane, to limbs. All of 2^256 is below 6p.
template <typename Params, uint32_t kBound = 1>
PROOFMILL_FMA_INLINE Tight<Params, kBound> FromWords(const Vector (&w)[4]) {
  const Vector mask = Broadcast(kLimbMask);
  Tight<Params, kBound> out;
  out.limb[0] = And(w[0], mask);
  out.limb[1] = And(Or(ShiftRight<52>(w[0]), ShiftLeft<12>(w[1])), mask);
  out.limb[2] = And(Or(ShiftRight<40>(w[1]), ShiftLeft<24>(w[2])), mask);
  out.limb[3] = And(Or(ShiftRight<28>(w[2]), ShiftLeft<36>(w[3])), mask);
  out.limb[4] = ShiftRight<16>(w[3]);
  return out;
}

template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE void ToWords(const Tight<Params, kBound>& x, Vector (&w)[4]) {
  static_assert(kBound <= 5, "6p is above 2^256");
  w[0] = Or(x.limb[0], ShiftLeft<52>(x.limb[1]));
  w[1] = Or(ShiftRight<12>(x.limb[1]), ShiftLeft<40>(x.limb[2]));
  w[2] = Or(ShiftRight<24>(x.limb[2]), ShiftLeft<28>(x.limb[3]));
  w[3] = Or(ShiftRight<36>(x.limb[3]), ShiftLeft<16>(x.limb[4]));
}

// Lane i of vector j becomes lane j of vector i.
PROOFMILL_FMA_INLINE void Transpose(Vector (&r)[kLanes]) {
  const Vector low01 = _mm256_unpacklo_epi64(r[0], r[1]);
  const Vector high01 = _mm256_unpackhi_epi64(r[0], r[1]);
  const Vector low23 = _mm256_unpacklo_epi64(r[2], r[3]);
  const Vector high23 = _mm256_unpackhi_epi64(r[2], r[3]);
  r[0] = _mm256_permute2x128_si256(low01, low23, 0x20);
  r[1] = _mm256_permute2x128_si256(high01, high23, 0x20);
  r[2] = _mm256_permute2x128_si256(low01, low23, 0x31);
  r[3] = _mm256_permute2x128_si256(high01, high23, 0x31);
}

// Lane i is *at(i), at() giving a const U256*. REQUIRES: the integers are below kBound * p.
template <typename Params, uint32_t kBound = 1, typename At>
PROOFMILL_FMA_INLINE Tight<Params, kBound> LoadFrom(const At& at) {
  Vector words[kLanes];
  for (size_t i = 0; i < kLanes; ++i) words[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at(i)));
  Transpose(words);
  return FromWords<Params, kBound>(words);
}
// Lane i is x[i * stride].
template <typename Params, uint32_t kBound = 1>
PROOFMILL_FMA_INLINE Tight<Params, kBound> Load(const U256* x, size_t stride = 1) {
  return LoadFrom<Params, kBound>([&](size_t i) { return x + i * stride; });
}

// *at(i) = lane i.
template <typename Params, uint32_t kBound, typename At>
PROOFMILL_FMA_INLINE void StoreTo(const At& at, const Tight<Params, kBound>& x) {
  Vector words[kLanes];
  ToWords(x, words);
  Transpose(words);
  for (size_t i = 0; i < kLanes; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(at(i)), words[i]);
}
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE void Store(U256* out, const Tight<Params, kBound>& x, size_t stride = 1) {
  StoreTo([&](size_t i) { return out + i * stride; }, x);
}

// ---- Sums.

// `x` with units * 2^52 more in each of the `limbs` limbs but the highest, and that much less in the next
// ones.
consteval Digits Lend(Digits x, int limbs, uint64_t units) {
  for (int j = 0; j + 1 < limbs; ++j) {
    x.limb[j] += units << kLimbBits;
    x.limb[j + 1] -= units;
  }
  return x;
}

template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE Loose<Params, kA + kB> AddLoose(const Loose<Params, kA>& a, const Loose<Params, kB>& b) {
  Loose<Params, kA + kB> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = Add(a.limb[j], b.limb[j]);
  return out;
}
// a - b + kB * p, for limbs of b up to kUnits * 2^52.
template <uint32_t kUnits, typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE Loose<Params, kA + kB> SubLoose(const Loose<Params, kA>& a, const Loose<Params, kB>& b) {
  constexpr Digits multiple = Lend(MultipleOfModulus<Params>(kB), kLimbs, kUnits);
  Loose<Params, kA + kB> out;
  for (int j = 0; j < kLimbs; ++j) {
    out.limb[j] = Add(Sub(a.limb[j], b.limb[j]), Broadcast(multiple.limb[j]));
  }
  return out;
}

template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Loose<Params, kBound> ToLoose(const Tight<Params, kBound>& x) {
  return Loose<Params, kBound>(x);
}
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE const Loose<Params, kBound>& ToLoose(const Loose<Params, kBound>& x) {
  return x;
}
// a + b and a - b (plus the least multiple of p that keeps it positive) for any two of Tight and Loose.
template <template <typename, uint32_t> typename A, template <typename, uint32_t> typename B, typename Params,
          uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE auto operator+(const A<Params, kA>& a, const B<Params, kB>& b) {
  return AddLoose(ToLoose(a), ToLoose(b));
}
template <template <typename, uint32_t> typename A, typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE auto operator-(const A<Params, kA>& a, const Tight<Params, kB>& b) {
  return SubLoose<1>(ToLoose(a), ToLoose(b));
}
template <template <typename, uint32_t> typename A, typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE auto operator-(const A<Params, kA>& a, const Loose<Params, kB>& b) {
  return SubLoose<24 * kB - 1>(ToLoose(a), b);
}
template <template <typename, uint32_t> typename A, typename Params, uint32_t kA>
PROOFMILL_FMA_INLINE auto Double(const A<Params, kA>& a) {
  return a + a;
}
// kBound * p - x.
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Loose<Params, kBound> Negate(const Tight<Params, kBound>& x) {
  constexpr Digits multiple = Lend(MultipleOfModulus<Params>(kBound), kLimbs, 1);
  Loose<Params, kBound> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = Sub(Broadcast(multiple.limb[j]), x.limb[j]);
  return out;
}

// Moves what a limb has above 52 bits to the next one. The top limb of the result is not masked: the number
// is in [0, 2^260), so it needs none.
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, kBound> Tighten(const Loose<Params, kBound>& x) {
  const Vector mask = Broadcast(kLimbMask);
  Tight<Params, kBound> out;
  Vector sum = x.limb[0];
  for (int j = 0; j + 1 < kLimbs; ++j) {
    out.limb[j] = And(sum, mask);
    sum = Add(x.limb[j + 1], ShiftRight<kLimbBits>(sum));
  }
  out.limb[kLimbs - 1] = sum;
  return out;
}

// 16 * x. The way from factors times 2^256 to products times 2^256: 16*a * b / 2^260 = a * b / 2^256.
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, 16 * kBound> Times16(const Tight<Params, kBound>& x) {
  Loose<Params, 16 * kBound> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = ShiftLeft<4>(x.limb[j]);
  return Tighten(out);
}

// ---- Products.

// a * b / 2^260 mod p. The bounds multiply to at most 73.
template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE Loose<Params, 2> operator*(const Tight<Params, kA>& a, const Tight<Params, kB>& b) {
  static_assert(kA * kB <= kProductBoundMax);
  static_assert(MultipleOfModulus<Params>(kBoundMax).limb[kLimbs] == 0, "84 * p must be below 2^260");
  Loose<Params, 2> out;
  MultiplyLimbs<Params>(a.limb, b.limb, out.limb);
  return out;
}
// a^2 / 2^260 mod p.
template <typename Params, uint32_t kA>
PROOFMILL_FMA_INLINE Loose<Params, 2> Square(const Tight<Params, kA>& a) {
  return a * a;
}

// a * b + c * d and a * b - c * d, over 2^260 and mod p, with one reduction. Both products of bounds add up
// to at most 73.
template <typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kD>
PROOFMILL_FMA_INLINE Loose<Params, 2> SumOfProducts(const Tight<Params, kA>& a, const Tight<Params, kB>& b,
                                                    const Tight<Params, kC>& c, const Tight<Params, kD>& d) {
  static_assert(kA * kB + kC * kD <= kProductBoundMax);
  Loose<Params, 2> out;
  MultiplyAddLimbs<Params>(a.limb, b.limb, c.limb, d.limb, out.limb);
  return out;
}
template <typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kD>
PROOFMILL_FMA_INLINE Loose<Params, 2> DifferenceOfProducts(const Tight<Params, kA>& a,
                                                           const Tight<Params, kB>& b,
                                                           const Tight<Params, kC>& c,
                                                           const Tight<Params, kD>& d) {
  return SumOfProducts(a, b, Tighten(Negate(c)), d);
}

// ---- Full reduction, comparisons, choices.

// Lane by lane `yes` where `mask` is all ones, `no` where it is zero.
PROOFMILL_FMA_INLINE Vector Blend(Vector mask, Vector yes, Vector no) {
  return _mm256_blendv_epi8(no, yes, mask);
}

// x - q*p for q = floor(x / p) or one less, with carries propagated: below p + 2^223, and so below 2p.
//
// q comes from the top limb alone. Propagating carries would add less than 2^12 to it, since limbs are below
// 2^63; so t = max(limb[4], 0) has t * 2^208 <= x < (t + 2^12) * 2^208. With f = floor(2^304 / p), t * f /
// 2^96 is at most x / p, and below it by less than (2^12 * 2^208) / p + t / 2^96 < 2^-31. The multiple is
// subtracted by adding q * (2^260 - p), modulo 2^260.
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, 2> ReduceBelowTwice(const Loose<Params, kBound>& x) {
  if constexpr (kBound <= 2) {
    return Tighten(Relax<2>(x));
  } else {
    constexpr uint64_t kFactor = QuotientFactor<Params>();
    static_assert(kFactor <= kLimbMask);
    constexpr Digits complement = ComplementOfModulus<Params>();
    const Vector negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x.limb[kLimbs - 1]);
    const Vector top = _mm256_andnot_si256(negative, x.limb[kLimbs - 1]);
    const Doubles high = HighHalf(ToDoubles(top), DoublesOf(kFactor));
    const Vector quotient =
        ShiftRight<304 - 208 - kLimbBits>(Sub(_mm256_castpd_si256(high), Broadcast(kHighBits)));
    const Doubles q = ToDoubles(quotient);
    Loose<Params, 2> out;
    out.limb[0] = Sub(x.limb[0], Broadcast(kLowBits));
    for (int j = 1; j < kLimbs; ++j) out.limb[j] = Sub(x.limb[j], Broadcast(kLowBits + kHighBits));
    Vector beyond = _mm256_setzero_si256();
    for (int j = 0; j < kLimbs; ++j) {
      MulAdd(out.limb[j], j + 1 < kLimbs ? out.limb[j + 1] : beyond, q, DoublesOf(complement.limb[j]));
    }
    Tight<Params, 2> tight = Tighten(out);
    tight.limb[kLimbs - 1] = And(tight.limb[kLimbs - 1], Broadcast(kLimbMask));
    return tight;
  }
}

// The representative in [0, p).
template <typename Params>
PROOFMILL_FMA_INLINE Tight<Params, 1> SubtractModulusOnce(const Tight<Params, 2>& x) {
  constexpr Digits p = ToDigits(Params::kModulus);
  // Limbs lend to the ones below, so that only the highest can be negative: where p was too much.
  constexpr Digits lent = Lend(Digits{}, kLimbs, 1);
  const Vector mask = Broadcast(kLimbMask);
  Tight<Params, 1> out;
  Vector sum = _mm256_setzero_si256();
  for (int j = 0; j < kLimbs; ++j) {
    const Vector difference = Add(x.limb[j], Broadcast(lent.limb[j] - p.limb[j]));
    sum = j == 0 ? difference : Add(difference, ShiftRight<kLimbBits>(sum));
    out.limb[j] = And(sum, mask);
  }
  const Vector below = _mm256_cmpgt_epi64(_mm256_setzero_si256(), sum);
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = Blend(below, x.limb[j], out.limb[j]);
  return out;
}
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, 1> Canonical(const Loose<Params, kBound>& x) {
  return SubtractModulusOnce(ReduceBelowTwice(x));
}
template <typename Params, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, 1> Canonical(const Tight<Params, kBound>& x) {
  if constexpr (kBound <= 2) {
    return SubtractModulusOnce(Relax<2>(x));
  } else {
    return Canonical(ToLoose(x));
  }
}

PROOFMILL_FMA_INLINE Mask ToMask(Vector lanes) {
  return static_cast<Mask>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
}
// The lanes in which a and b are the same number, not only modulo p.
template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_FMA_INLINE Mask SameLimbs(const Tight<Params, kA>& a, const Tight<Params, kB>& b) {
  Vector differences = _mm256_xor_si256(a.limb[0], b.limb[0]);
  for (int j = 1; j < kLimbs; ++j) differences = Or(differences, _mm256_xor_si256(a.limb[j], b.limb[j]));
  return ToMask(_mm256_cmpeq_epi64(differences, _mm256_setzero_si256()));
}
// The lanes in which a == b.
template <typename Params>
PROOFMILL_FMA_INLINE Mask Equal(const Tight<Params, 1>& a, const Tight<Params, 1>& b) {
  return SameLimbs(a, b);
}
// The lanes in which x == 0.
template <typename Params>
PROOFMILL_FMA_INLINE Mask IsZero(const Tight<Params, 1>& x) {
  Vector bits = x.limb[0];
  for (int j = 1; j < kLimbs; ++j) bits = Or(bits, x.limb[j]);
  return ToMask(_mm256_cmpeq_epi64(bits, _mm256_setzero_si256()));
}

}  // namespace proofmill::kernels::fma

#endif  // PROOFMILL_KERNELS_FIELD_MONTGOMERY_FMA_H_
