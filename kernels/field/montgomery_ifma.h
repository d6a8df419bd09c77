// Eight elements of a prime field at once, in AVX-512 IFMA: 52 x 52-bit products added to 64-bit lanes.
//
// An operand is five vectors, vector j holding limb j (weight 2^(52j)) of the number of each lane. Numbers
// are reduced lazily, and what is known of them stands in their type:
//   Tight<P, k>    lanes in [0, k*p), limbs in [0, 2^52): what products and stores take;
//   Loose<P, k>    lanes in [0, k*p), limbs of any sign, below (24k - 1) * 2^52 in magnitude: what sums and
//                  products give; Tighten() propagates the carries;
//   Wide<P, k, n>  lanes in [0, k*p^2), ten limbs: sums of n products before their one reduction.
// k and n are compile-time constants, so an expression that could overflow does not compile:
//   value  kBoundMax * p < 2^260: five limbs hold what five limbs must hold;
//   limb   (in units of 2^52) 84 * 24 < 2^11. Sums add the bounds of their terms, differences also a limb of
//   a
//          constant, below 1: 24a - 1 + 24b - 1 + 1 = 24(a + b) - 1. A product has at most 9 terms below 1 in
//          a limb, a sum of n of them at most 10n with the constants of differences. The reduction adds 9 and
//          a carry: at most 10n + 10, which is below the 47 of Loose<P, 2> if n <= 3.
//
// Montgomery factor: a product gives a*b / 2^260 mod p, not / 2^256 as MontgomeryField's. Linear maps work on
// the integers of MontgomeryField as they stand, if their constant factors are c * 2^260 mod p: that integer
// is MontgomeryField(c * 16), and Times16() makes it on the fly. Elsewhere multiply by PowerOfTwo<P, 264>()
// on the way in and by PowerOfTwo<P, 256>() on the way out.
//
// No instruction of this file may reach a CPU that lacks it. It is included by translation units that are
// compiled for AVX-512 alone (cmake/ProofmillIfma.cmake), whose functions run behind
// Supported(Arithmetic::kIfma). Everything here is in a namespace that no other unit can instantiate; and
// those units may not instantiate inline functions of anybody else, since the linker would be free to choose
// their AVX-512 copies for the whole program: tests/checks/ifma_objects.py looks at the symbols.
//
// Time does not depend on the values.

#ifndef PROOFMILL_KERNELS_FIELD_MONTGOMERY_IFMA_H_
#define PROOFMILL_KERNELS_FIELD_MONTGOMERY_IFMA_H_

#if !defined(__AVX512F__) || !defined(__AVX512IFMA__) || !defined(__AVX512DQ__)
#error "only for sources given to proofmill_ifma_sources() in CMake"
#endif

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/field/digits52.h"
#include "kernels/field/limbs.h"

#define PROOFMILL_IFMA_INLINE [[gnu::always_inline]] inline

namespace proofmill::kernels::ifma {

using namespace digits52;  // NOLINT(google-build-using-namespace)

inline constexpr size_t kLanes = 8;
// floor(2^260 / p) for both fields of BN254; checked below.
inline constexpr uint32_t kBoundMax = 84;
// What the bounds of factors may multiply to.
inline constexpr uint32_t kProductBoundMax = kBoundMax;

using Vector = __m512i;
using Mask = __mmask8;  // bit i for lane i
inline constexpr Mask kAllLanes = 0xff;

PROOFMILL_IFMA_INLINE Vector Broadcast(uint64_t x) { return _mm512_set1_epi64(static_cast<int64_t>(x)); }
PROOFMILL_IFMA_INLINE Vector MulLow(Vector sum, Vector a, Vector b) {
  return _mm512_madd52lo_epu64(sum, a, b);
}
PROOFMILL_IFMA_INLINE Vector MulHigh(Vector sum, Vector a, Vector b) {
  return _mm512_madd52hi_epu64(sum, a, b);
}

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
  PROOFMILL_IFMA_INLINE Loose(const Tight<Params, kLower>& x) {  // NOLINT(google-explicit-constructor)
    static_assert(kLower <= kBound);
    for (int j = 0; j < kLimbs; ++j) limb[j] = x.limb[j];
  }
};

template <typename Params, uint32_t kBound, uint32_t kTerms>
struct Wide {
  static_assert(kBound >= 1 && kBound <= kBoundMax, "Reduce() would give more than 2p");
  static_assert(kTerms >= 1 && kTerms <= 3, "Reduce() would give limbs beyond those of a Loose");
  Vector limb[2 * kLimbs];
};

// The same numbers under a higher bound.
template <uint32_t kHigher, typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, kHigher> Relax(const Tight<Params, kBound>& x) {
  static_assert(kHigher >= kBound);
  Tight<Params, kHigher> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = x.limb[j];
  return out;
}
template <uint32_t kHigher, typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Loose<Params, kHigher> Relax(const Loose<Params, kBound>& x) {
  static_assert(kHigher >= kBound);
  Loose<Params, kHigher> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = x.limb[j];
  return out;
}

// The constant x in every lane. REQUIRES: x < p.
template <typename Params>
PROOFMILL_IFMA_INLINE Tight<Params, 1> Constant(const Digits& x) {
  Tight<Params, 1> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = Broadcast(x.limb[j]);
  return out;
}
template <typename Params>
PROOFMILL_IFMA_INLINE Tight<Params, 1> Zero() {
  return Constant<Params>(Digits{});
}
// 2^kExponent mod p in every lane. The one of this form is PowerOfTwo<Params, 260>().
template <typename Params, uint32_t kExponent>
PROOFMILL_IFMA_INLINE Tight<Params, 1> PowerOfTwo() {
  constexpr Digits value = ToDigits(PowerOfTwoModulo<Params>(kExponent));
  return Constant<Params>(value);
}

// ---- Memory: integers below 2^256 as four 64-bit words, one after another or anywhere.

// Words, vector i holding word i of each lane, to limbs. All of 2^256 is below 6p.
template <typename Params, uint32_t kBound = 1>
PROOFMILL_IFMA_INLINE Tight<Params, kBound> FromWords(const Vector (&w)[4]) {
  const Vector mask = Broadcast(kLimbMask);
  const auto join = [&](Vector low, int low_bits, Vector high, int high_shift) {
    return _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(low, static_cast<unsigned>(low_bits)),
                                            _mm512_slli_epi64(high, static_cast<unsigned>(high_shift))),
                            mask);
  };
  Tight<Params, kBound> out;
  out.limb[0] = _mm512_and_si512(w[0], mask);
  out.limb[1] = join(w[0], 52, w[1], 12);
  out.limb[2] = join(w[1], 40, w[2], 24);
  out.limb[3] = join(w[2], 28, w[3], 36);
  out.limb[4] = _mm512_srli_epi64(w[3], 16);
  return out;
}

template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE void ToWords(const Tight<Params, kBound>& x, Vector (&w)[4]) {
  static_assert(kBound <= 5, "6p is above 2^256");
  w[0] = _mm512_or_si512(x.limb[0], _mm512_slli_epi64(x.limb[1], 52));
  w[1] = _mm512_or_si512(_mm512_srli_epi64(x.limb[1], 12), _mm512_slli_epi64(x.limb[2], 40));
  w[2] = _mm512_or_si512(_mm512_srli_epi64(x.limb[2], 24), _mm512_slli_epi64(x.limb[3], 28));
  w[3] = _mm512_or_si512(_mm512_srli_epi64(x.limb[3], 36), _mm512_slli_epi64(x.limb[4], 16));
}

// From pair k with the words of lanes k and k + 4 to word i of the eight lanes, and back.
PROOFMILL_IFMA_INLINE void TransposeWords(const Vector (&in)[4], Vector (&out)[4]) {
  const Vector even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const Vector odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  const Vector low01 = _mm512_unpacklo_epi64(in[0], in[1]);
  const Vector low23 = _mm512_unpacklo_epi64(in[2], in[3]);
  const Vector high01 = _mm512_unpackhi_epi64(in[0], in[1]);
  const Vector high23 = _mm512_unpackhi_epi64(in[2], in[3]);
  out[0] = _mm512_permutex2var_epi64(low01, even, low23);
  out[1] = _mm512_permutex2var_epi64(high01, even, high23);
  out[2] = _mm512_permutex2var_epi64(low01, odd, low23);
  out[3] = _mm512_permutex2var_epi64(high01, odd, high23);
}
// Lane i of vector j becomes lane j of vector i.
PROOFMILL_IFMA_INLINE void Transpose(Vector (&r)[kLanes]) {
  const auto swap_lanes = [&](size_t distance, Vector low_index, Vector high_index) {
    for (size_t i = 0; i < kLanes; ++i) {
      if ((i & distance) != 0) continue;
      const Vector a = r[i], b = r[i + distance];
      r[i] = _mm512_permutex2var_epi64(a, low_index, b);
      r[i + distance] = _mm512_permutex2var_epi64(a, high_index, b);
    }
  };
  swap_lanes(1, _mm512_setr_epi64(0, 8, 2, 10, 4, 12, 6, 14), _mm512_setr_epi64(1, 9, 3, 11, 5, 13, 7, 15));
  swap_lanes(2, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
  swap_lanes(4, _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11), _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15));
}

// Lane i is *at(i), at() giving a const U256*. REQUIRES: the integers are below kBound * p.
template <typename Params, uint32_t kBound = 1, typename At>
PROOFMILL_IFMA_INLINE Tight<Params, kBound> LoadFrom(const At& at) {
  Vector pair[4], words[4];
  const auto half = [&](size_t i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at(i))); };
  for (size_t k = 0; k < 4; ++k) {
    pair[k] = _mm512_inserti64x4(_mm512_castsi256_si512(half(k)), half(k + 4), 1);
  }
  TransposeWords(pair, words);
  return FromWords<Params, kBound>(words);
}
// Lane i is x[i * stride].
template <typename Params, uint32_t kBound = 1>
PROOFMILL_IFMA_INLINE Tight<Params, kBound> Load(const U256* x, size_t stride = 1) {
  return LoadFrom<Params, kBound>([&](size_t i) { return x + i * stride; });
}

// *at(i) = lane i.
template <typename Params, uint32_t kBound, typename At>
PROOFMILL_IFMA_INLINE void StoreTo(const At& at, const Tight<Params, kBound>& x) {
  Vector pair[4], words[4];
  ToWords(x, words);
  TransposeWords(words, pair);
  for (size_t k = 0; k < 4; ++k) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at(k)), _mm512_castsi512_si256(pair[k]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at(k + 4)), _mm512_extracti64x4_epi64(pair[k], 1));
  }
}
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE void Store(U256* out, const Tight<Params, kBound>& x, size_t stride = 1) {
  StoreTo([&](size_t i) { return out + i * stride; }, x);
}

// ---- Sums.

template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE Loose<Params, kA + kB> AddLoose(const Loose<Params, kA>& a,
                                                      const Loose<Params, kB>& b) {
  Loose<Params, kA + kB> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = _mm512_add_epi64(a.limb[j], b.limb[j]);
  return out;
}
// a - b + kB * p.
template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE Loose<Params, kA + kB> SubLoose(const Loose<Params, kA>& a,
                                                      const Loose<Params, kB>& b) {
  constexpr Digits multiple = MultipleOfModulus<Params>(kB);
  Loose<Params, kA + kB> out;
  for (int j = 0; j < kLimbs; ++j) {
    out.limb[j] = _mm512_add_epi64(_mm512_sub_epi64(a.limb[j], b.limb[j]), Broadcast(multiple.limb[j]));
  }
  return out;
}

template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Loose<Params, kBound> ToLoose(const Tight<Params, kBound>& x) {
  return Loose<Params, kBound>(x);
}
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE const Loose<Params, kBound>& ToLoose(const Loose<Params, kBound>& x) {
  return x;
}
// a + b and a - b (plus the least multiple of p that keeps it positive) for any two of Tight and Loose.
template <template <typename, uint32_t> typename A, template <typename, uint32_t> typename B, typename Params,
          uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE auto operator+(const A<Params, kA>& a, const B<Params, kB>& b) {
  return AddLoose(ToLoose(a), ToLoose(b));
}
template <template <typename, uint32_t> typename A, template <typename, uint32_t> typename B, typename Params,
          uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE auto operator-(const A<Params, kA>& a, const B<Params, kB>& b) {
  return SubLoose(ToLoose(a), ToLoose(b));
}
template <template <typename, uint32_t> typename A, typename Params, uint32_t kA>
PROOFMILL_IFMA_INLINE auto Double(const A<Params, kA>& a) {
  return a + a;
}
// kBound * p - x.
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Loose<Params, kBound> Negate(const Tight<Params, kBound>& x) {
  constexpr Digits multiple = MultipleOfModulus<Params>(kBound);
  Loose<Params, kBound> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = _mm512_sub_epi64(Broadcast(multiple.limb[j]), x.limb[j]);
  return out;
}

// Moves what a limb has above or below 52 bits to the next one. The top limb of the result is not masked:
// the number is in [0, 2^260), so it needs none.
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, kBound> Tighten(const Loose<Params, kBound>& x) {
  const Vector mask = Broadcast(kLimbMask);
  Tight<Params, kBound> out;
  Vector carry = _mm512_setzero_si512();
  for (int j = 0; j < kLimbs; ++j) {
    const Vector sum = j == 0 ? x.limb[0] : _mm512_add_epi64(x.limb[j], carry);
    carry = _mm512_srai_epi64(sum, kLimbBits);
    out.limb[j] = j < kLimbs - 1 ? _mm512_and_si512(sum, mask) : sum;
  }
  return out;
}

// 16 * x. The way from factors times 2^256 to products times 2^256: 16*a * b / 2^260 = a * b / 2^256.
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, 16 * kBound> Times16(const Tight<Params, kBound>& x) {
  Loose<Params, 16 * kBound> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = _mm512_slli_epi64(x.limb[j], 4);
  return Tighten(out);
}

// ---- Products.

// a * b, as the integer.
template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE Wide<Params, kA * kB, 1> MulWide(const Tight<Params, kA>& a,
                                                       const Tight<Params, kB>& b) {
  Wide<Params, kA * kB, 1> t;
  for (Vector& limb : t.limb) limb = _mm512_setzero_si512();
#pragma GCC unroll 5
  for (int i = 0; i < kLimbs; ++i) {
#pragma GCC unroll 5
    for (int j = 0; j < kLimbs; ++j) t.limb[i + j] = MulLow(t.limb[i + j], a.limb[j], b.limb[i]);
#pragma GCC unroll 5
    for (int j = 0; j < kLimbs; ++j) t.limb[i + j + 1] = MulHigh(t.limb[i + j + 1], a.limb[j], b.limb[i]);
  }
  return t;
}

// a^2: the ten products of different limbs once, doubled by doubling a limb (it has 12 bits to spare, but a
// product reads 52: so the sum is doubled).
template <typename Params, uint32_t kA>
PROOFMILL_IFMA_INLINE Wide<Params, kA * kA, 1> SquareWide(const Tight<Params, kA>& a) {
  Wide<Params, kA * kA, 1> t;
  for (Vector& limb : t.limb) limb = _mm512_setzero_si512();
#pragma GCC unroll 5
  for (int i = 0; i < kLimbs; ++i) {
#pragma GCC unroll 5
    for (int j = i + 1; j < kLimbs; ++j) t.limb[i + j] = MulLow(t.limb[i + j], a.limb[j], a.limb[i]);
#pragma GCC unroll 5
    for (int j = i + 1; j < kLimbs; ++j) t.limb[i + j + 1] = MulHigh(t.limb[i + j + 1], a.limb[j], a.limb[i]);
  }
#pragma GCC unroll 10
  for (int i = 0; i < 2 * kLimbs; ++i) {
    t.limb[i] = _mm512_add_epi64(t.limb[i], t.limb[i]);
    t.limb[i] = i % 2 == 0 ? MulLow(t.limb[i], a.limb[i / 2], a.limb[i / 2])
                           : MulHigh(t.limb[i], a.limb[i / 2], a.limb[i / 2]);
  }
  return t;
}

template <typename Params, uint32_t kA, uint32_t kB, uint32_t kM, uint32_t kN>
PROOFMILL_IFMA_INLINE Wide<Params, kA + kB, kM + kN> operator+(const Wide<Params, kA, kM>& a,
                                                               const Wide<Params, kB, kN>& b) {
  Wide<Params, kA + kB, kM + kN> out;
  for (int j = 0; j < 2 * kLimbs; ++j) out.limb[j] = _mm512_add_epi64(a.limb[j], b.limb[j]);
  return out;
}
// a - b + kB * p^2.
template <typename Params, uint32_t kA, uint32_t kB, uint32_t kM, uint32_t kN>
PROOFMILL_IFMA_INLINE Wide<Params, kA + kB, kM + kN> operator-(const Wide<Params, kA, kM>& a,
                                                               const Wide<Params, kB, kN>& b) {
  constexpr Digits multiple = MultipleOfSquaredModulus<Params>(kB);
  Wide<Params, kA + kB, kM + kN> out;
  for (int j = 0; j < 2 * kLimbs; ++j) {
    out.limb[j] = _mm512_add_epi64(_mm512_sub_epi64(a.limb[j], b.limb[j]), Broadcast(multiple.limb[j]));
  }
  return out;
}

// t / 2^260 mod p, below 2p, by Montgomery's reduction, one limb after another (Montgomery, 1985): the result
// is (t + m*p) / 2^260 with m < 2^260, and t < 84 * p^2 < 2^260 * p. A limb t[i] that is to vanish is not
// computed: with m_i*p[0] it becomes the next multiple of 2^52, so that ceil(t[i] / 2^52) goes on.
template <typename Params, uint32_t kBound, uint32_t kTerms>
PROOFMILL_IFMA_INLINE Loose<Params, 2> Reduce(const Wide<Params, kBound, kTerms>& wide) {
  constexpr Digits p = ToDigits(Params::kModulus);
  static_assert(MultipleOfModulus<Params>(kBoundMax).limb[kLimbs] == 0, "84 * p must be below 2^260");
  const Vector mask = Broadcast(kLimbMask);
  const Vector negative_inverse = Broadcast(Params::kNegInverse & kLimbMask);
  const Vector zero = _mm512_setzero_si512();
  Vector t[2 * kLimbs];
  for (int i = 0; i < 2 * kLimbs; ++i) t[i] = wide.limb[i];
#pragma GCC unroll 5
  for (int i = 0; i < kLimbs; ++i) {
    const Vector m = MulLow(zero, t[i], negative_inverse);
    // t[i + 1] is what the next step waits for: its two products run side by side.
    const Vector carry = _mm512_srai_epi64(_mm512_add_epi64(t[i], mask), kLimbBits);
    const Vector low = MulLow(carry, m, Broadcast(p.limb[1]));
    t[i + 1] = _mm512_add_epi64(MulHigh(t[i + 1], m, Broadcast(p.limb[0])), low);
    t[i + 2] = MulHigh(t[i + 2], m, Broadcast(p.limb[1]));
#pragma GCC unroll 5
    for (int j = 2; j < kLimbs; ++j) {
      t[i + j] = MulLow(t[i + j], m, Broadcast(p.limb[j]));
      t[i + j + 1] = MulHigh(t[i + j + 1], m, Broadcast(p.limb[j]));
    }
  }
  Loose<Params, 2> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = t[kLimbs + j];
  return out;
}

// a * b / 2^260 mod p. The bounds multiply to at most 84.
template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE Loose<Params, 2> operator*(const Tight<Params, kA>& a, const Tight<Params, kB>& b) {
  return Reduce(MulWide(a, b));
}
// a^2 / 2^260 mod p.
template <typename Params, uint32_t kA>
PROOFMILL_IFMA_INLINE Loose<Params, 2> Square(const Tight<Params, kA>& a) {
  return Reduce(SquareWide(a));
}

// a * b + c * d and a * b - c * d, over 2^260 and mod p, with one reduction. Both products of bounds add up
// to at most 84.
template <typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kD>
PROOFMILL_IFMA_INLINE Loose<Params, 2> SumOfProducts(const Tight<Params, kA>& a, const Tight<Params, kB>& b,
                                                     const Tight<Params, kC>& c, const Tight<Params, kD>& d) {
  return Reduce(MulWide(a, b) + MulWide(c, d));
}
template <typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kD>
PROOFMILL_IFMA_INLINE Loose<Params, 2> DifferenceOfProducts(const Tight<Params, kA>& a,
                                                            const Tight<Params, kB>& b,
                                                            const Tight<Params, kC>& c,
                                                            const Tight<Params, kD>& d) {
  return Reduce(MulWide(a, b) - MulWide(c, d));
}

// ---- Full reduction, comparisons, choices.

// x - q*p for q = floor(x / p) or one less, with carries propagated: below p + 2^223, and so below 2p.
//
// q comes from the top limb alone. Propagating carries would change it by less than 2^12, since limbs are
// below 2^63; so t = max(limb[4] - 2^12, 0) has t * 2^208 <= x < (t + 2^13) * 2^208. With f = floor(2^304 /
// p), t * f / 2^96 is at most x / p, and below it by less than (2^13 * 2^208) / p + t / 2^96 < 2^-31. The
// multiple is subtracted by adding q * (2^260 - p), modulo 2^260.
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, 2> ReduceBelowTwice(const Loose<Params, kBound>& x) {
  if constexpr (kBound <= 2) {
    return Tighten(Relax<2>(x));
  } else {
    constexpr uint64_t kFactor = QuotientFactor<Params>();
    static_assert(kFactor <= kLimbMask);
    constexpr Digits complement = ComplementOfModulus<Params>();
    const Vector zero = _mm512_setzero_si512();
    const Vector top = _mm512_max_epi64(_mm512_sub_epi64(x.limb[kLimbs - 1], Broadcast(1 << 12)), zero);
    const Vector q = _mm512_srli_epi64(MulHigh(zero, top, Broadcast(kFactor)), 304 - 208 - kLimbBits);
    Loose<Params, 2> out;
    for (int j = 0; j < kLimbs; ++j) {
      out.limb[j] = MulLow(x.limb[j], q, Broadcast(complement.limb[j]));
      if (j > 0) out.limb[j] = MulHigh(out.limb[j], q, Broadcast(complement.limb[j - 1]));
    }
    Tight<Params, 2> tight = Tighten(out);
    tight.limb[kLimbs - 1] = _mm512_and_si512(tight.limb[kLimbs - 1], Broadcast(kLimbMask));
    return tight;
  }
}

// The representative in [0, p).
template <typename Params>
PROOFMILL_IFMA_INLINE Tight<Params, 1> SubtractModulusOnce(const Tight<Params, 2>& x) {
  constexpr Digits p = ToDigits(Params::kModulus);
  const Vector mask = Broadcast(kLimbMask);
  Tight<Params, 1> out;
  Vector borrow = _mm512_setzero_si512();
  Vector difference = borrow;
  for (int j = 0; j < kLimbs; ++j) {
    difference = _mm512_sub_epi64(x.limb[j], Broadcast(p.limb[j]));
    if (j > 0) difference = _mm512_add_epi64(difference, borrow);
    borrow = _mm512_srai_epi64(difference, kLimbBits);
    out.limb[j] = _mm512_and_si512(difference, mask);
  }
  const Mask below = _mm512_movepi64_mask(difference);
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = _mm512_mask_mov_epi64(out.limb[j], below, x.limb[j]);
  return out;
}
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, 1> Canonical(const Loose<Params, kBound>& x) {
  return SubtractModulusOnce(ReduceBelowTwice(x));
}
template <typename Params, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, 1> Canonical(const Tight<Params, kBound>& x) {
  if constexpr (kBound <= 2) {
    return SubtractModulusOnce(Relax<2>(x));
  } else {
    return Canonical(ToLoose(x));
  }
}

// The lanes in which a == b.
template <typename Params>
PROOFMILL_IFMA_INLINE Mask Equal(const Tight<Params, 1>& a, const Tight<Params, 1>& b) {
  Vector differences = _mm512_xor_si512(a.limb[0], b.limb[0]);
  for (int j = 1; j < kLimbs; ++j) {
    differences = _mm512_or_si512(differences, _mm512_xor_si512(a.limb[j], b.limb[j]));
  }
  return _mm512_testn_epi64_mask(differences, differences);
}
// The lanes in which a and b are the same number, not only modulo p.
template <typename Params, uint32_t kA, uint32_t kB>
PROOFMILL_IFMA_INLINE Mask SameLimbs(const Tight<Params, kA>& a, const Tight<Params, kB>& b) {
  Mask out = kAllLanes;
  for (int j = 0; j < kLimbs; ++j) out = _mm512_mask_cmpeq_epi64_mask(out, a.limb[j], b.limb[j]);
  return out;
}
// The lanes in which x == 0.
template <typename Params>
PROOFMILL_IFMA_INLINE Mask IsZero(const Tight<Params, 1>& x) {
  Vector bits = x.limb[0];
  for (int j = 1; j < kLimbs; ++j) bits = _mm512_or_si512(bits, x.limb[j]);
  return _mm512_testn_epi64_mask(bits, bits);
}

}  // namespace proofmill::kernels::ifma

#endif  // PROOFMILL_KERNELS_FIELD_MONTGOMERY_IFMA_H_
