// Eight BabyBear elements in AVX2. Internal to babybear_lanes.h, which says what is what.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_AVX2_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_AVX2_H_

#if defined(__AVX2__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define PROOFMILL_LANES_INLINE [[gnu::always_inline]] inline
#define PROOFMILL_LANES_BODY __attribute__((always_inline))

namespace proofmill::kernels::avx2 {

inline constexpr size_t kLanes = 8;
inline constexpr size_t kLogLanes = 3;
inline constexpr uint32_t kP = 0x78000001u, kPInverse = 0x88000001u;

struct Vec {
  __m256i v;
};
// 64-bit sums of products: of the even lanes, and of the odd ones.
struct Wide {
  __m256i even, odd;
};

PROOFMILL_LANES_INLINE Vec Set(uint32_t x) { return {_mm256_set1_epi32(static_cast<int>(x))}; }
PROOFMILL_LANES_INLINE Vec Load(const uint32_t* from) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
}
PROOFMILL_LANES_INLINE void Store(uint32_t* to, Vec x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v);
}
// The first eight lanes.
PROOFMILL_LANES_INLINE void StoreEight(uint32_t* to, Vec x) { Store(to, x); }
PROOFMILL_LANES_INLINE void Prefetch(const uint32_t* at) { _mm_prefetch(at, _MM_HINT_T0); }

// x mod p of integers below 2p.
PROOFMILL_LANES_INLINE Vec Below2P(__m256i x) {
  return {_mm256_min_epu32(x, _mm256_sub_epi32(x, Set(kP).v))};
}
// x mod p of integers in (-p, p), modulo 2^32.
PROOFMILL_LANES_INLINE Vec Signed(__m256i x) { return {_mm256_min_epu32(x, _mm256_add_epi32(x, Set(kP).v))}; }
PROOFMILL_LANES_INLINE Vec Add(Vec a, Vec b) { return Below2P(_mm256_add_epi32(a.v, b.v)); }
PROOFMILL_LANES_INLINE Vec Sub(Vec a, Vec b) { return Signed(_mm256_sub_epi32(a.v, b.v)); }

// The odd lanes in the places of the even ones.
PROOFMILL_LANES_INLINE __m256i OddDown(__m256i x) {
  return _mm256_castps_si256(_mm256_movehdup_ps(_mm256_castsi256_ps(x)));
}
// The upper halves of both.
PROOFMILL_LANES_INLINE __m256i UpperHalves(__m256i even, __m256i odd) {
  return _mm256_blend_epi32(OddDown(even), odd, 0xaa);
}

PROOFMILL_LANES_INLINE Wide MulWide(Vec a, Vec b) {
  return {_mm256_mul_epu32(a.v, b.v), _mm256_mul_epu32(OddDown(a.v), OddDown(b.v))};
}
// The same where all lanes of b are equal.
PROOFMILL_LANES_INLINE Wide MulWideSet(Vec a, Vec b) {
  return {_mm256_mul_epu32(a.v, b.v), _mm256_mul_epu32(OddDown(a.v), b.v)};
}
PROOFMILL_LANES_INLINE Wide AddWide(Wide a, Wide b) {
  return {_mm256_add_epi64(a.even, b.even), _mm256_add_epi64(a.odd, b.odd)};
}
// The upper half of q * p, q = x / p mod 2^32: what Montgomery's reduction takes from the upper half of x.
PROOFMILL_LANES_INLINE __m256i Correction(Wide x) {
  const __m256i p = Set(kP).v, inverse = Set(kPInverse).v;
  return UpperHalves(_mm256_mul_epu32(_mm256_mul_epu32(x.even, inverse), p),
                     _mm256_mul_epu32(_mm256_mul_epu32(x.odd, inverse), p));
}
// x / 2^32 of one product.
PROOFMILL_LANES_INLINE Vec Reduce(Wide x) {
  return Signed(_mm256_sub_epi32(UpperHalves(x.even, x.odd), Correction(x)));
}
// The same of a sum of up to four products.
PROOFMILL_LANES_INLINE Vec ReduceSum(Wide x) {
  return Sub(Below2P(UpperHalves(x.even, x.odd)), {Correction(x)});
}
PROOFMILL_LANES_INLINE Vec Mul(Vec a, Vec b) { return Reduce(MulWide(a, b)); }

// a * b / 2^32 in (-p, p) of the even lanes, in the upper halves. REQUIRES: even lanes in (-p, p).
PROOFMILL_LANES_INLINE __m256i MulSigned(__m256i a, __m256i b) {
  const __m256i product = _mm256_mul_epi32(a, b);
  const __m256i quotient = _mm256_mul_epi32(product, Set(kPInverse).v);
  return _mm256_sub_epi64(product, _mm256_mul_epi32(quotient, Set(kP).v));
}
// x^7 of the even lanes, in the upper halves, in (-p, p).
PROOFMILL_LANES_INLINE __m256i Pow7Signed(__m256i x) {
  const __m256i square = _mm256_srli_epi64(MulSigned(x, x), 32);
  const __m256i cube = _mm256_srli_epi64(MulSigned(square, x), 32);
  const __m256i fourth = _mm256_srli_epi64(MulSigned(square, square), 32);
  return MulSigned(cube, fourth);
}
// (x + c)^7, c given as c - p modulo 2^32.
PROOFMILL_LANES_INLINE Vec SBox(Vec x, Vec c_minus_p) {
  const __m256i sum = _mm256_add_epi32(x.v, c_minus_p.v);
  return Signed(UpperHalves(Pow7Signed(sum), Pow7Signed(_mm256_srli_epi64(sum, 32))));
}

// x / 2^kExponent: with low the last bits of x, 2^-e = -15 * 2^(27 - e) mod p, and 15 * 2^(27 - e) * low < p.
template <int kExponent>
PROOFMILL_LANES_INLINE Vec DivPowerOfTwo(Vec x) {
  static_assert(kExponent >= 1 && kExponent <= 27);
  const __m256i low = _mm256_and_si256(x.v, Set((1u << kExponent) - 1).v);
  const __m256i scaled = _mm256_mullo_epi32(low, Set(15u << (27 - kExponent)).v);
  return Signed(_mm256_sub_epi32(_mm256_srli_epi32(x.v, kExponent), scaled));
}

// Bit i: lane i has all of the bits `mask` zero.
PROOFMILL_LANES_INLINE uint32_t ZeroBits(Vec x, Vec mask) {
  const __m256i zero = _mm256_cmpeq_epi32(_mm256_and_si256(x.v, mask.v), _mm256_setzero_si256());
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(zero)));
}

PROOFMILL_LANES_INLINE void Transpose(Vec* rows) {
  __m256i t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_epi32(rows[i].v, rows[i + 1].v);
    t[i + 1] = _mm256_unpackhi_epi32(rows[i].v, rows[i + 1].v);
  }
  // u[4b + c], half h: column 4h + c of rows 4b .. 4b + 3.
  __m256i u[8];
  for (int b = 0; b < 8; b += 4) {
    u[b] = _mm256_unpacklo_epi64(t[b], t[b + 2]);
    u[b + 1] = _mm256_unpackhi_epi64(t[b], t[b + 2]);
    u[b + 2] = _mm256_unpacklo_epi64(t[b + 1], t[b + 3]);
    u[b + 3] = _mm256_unpackhi_epi64(t[b + 1], t[b + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    rows[c].v = _mm256_permute2x128_si256(u[c], u[4 + c], 0x20);
    rows[4 + c].v = _mm256_permute2x128_si256(u[c], u[4 + c], 0x31);
  }
}

}  // namespace proofmill::kernels::avx2

#endif  // defined(__AVX2__)
#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_AVX2_H_
