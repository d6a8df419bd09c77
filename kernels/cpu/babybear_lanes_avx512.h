// Sixteen BabyBear elements in AVX-512 F, BW, DQ and VL. Internal to babybear_lanes.h, which says what is
// what.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_AVX512_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_AVX512_H_

#if defined(__AVX512F__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define PROOFMILL_LANES_INLINE [[gnu::always_inline]] inline
#define PROOFMILL_LANES_BODY __attribute__((always_inline))

namespace proofmill::kernels::avx512 {

inline constexpr size_t kLanes = 16;
inline constexpr size_t kLogLanes = 4;
inline constexpr uint32_t kP = 0x78000001u, kPInverse = 0x88000001u;

struct Vec {
  __m512i v;
};
// 64-bit sums of products: of the even lanes, and of the odd ones.
struct Wide {
  __m512i even, odd;
};

PROOFMILL_LANES_INLINE Vec Set(uint32_t x) { return {_mm512_set1_epi32(static_cast<int>(x))}; }
PROOFMILL_LANES_INLINE Vec Load(const uint32_t* from) { return {_mm512_loadu_si512(from)}; }
PROOFMILL_LANES_INLINE void Store(uint32_t* to, Vec x) { _mm512_storeu_si512(to, x.v); }
// The first eight lanes.
PROOFMILL_LANES_INLINE void StoreEight(uint32_t* to, Vec x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(x.v));
}
PROOFMILL_LANES_INLINE void Prefetch(const uint32_t* at) { _mm_prefetch(at, _MM_HINT_T0); }

// x mod p of integers below 2p.
PROOFMILL_LANES_INLINE Vec Below2P(__m512i x) {
  return {_mm512_min_epu32(x, _mm512_sub_epi32(x, Set(kP).v))};
}
// x mod p of integers in (-p, p), modulo 2^32.
PROOFMILL_LANES_INLINE Vec Signed(__m512i x) { return {_mm512_min_epu32(x, _mm512_add_epi32(x, Set(kP).v))}; }
PROOFMILL_LANES_INLINE Vec Add(Vec a, Vec b) { return Below2P(_mm512_add_epi32(a.v, b.v)); }
PROOFMILL_LANES_INLINE Vec Sub(Vec a, Vec b) { return Signed(_mm512_sub_epi32(a.v, b.v)); }

// The odd lanes in the places of the even ones.
PROOFMILL_LANES_INLINE __m512i OddDown(__m512i x) {
  return _mm512_castps_si512(_mm512_movehdup_ps(_mm512_castsi512_ps(x)));
}
// The upper halves of both.
PROOFMILL_LANES_INLINE __m512i UpperHalves(__m512i even, __m512i odd) {
  return _mm512_mask_mov_epi32(OddDown(even), 0xaaaa, odd);
}

PROOFMILL_LANES_INLINE Wide MulWide(Vec a, Vec b) {
  return {_mm512_mul_epu32(a.v, b.v), _mm512_mul_epu32(OddDown(a.v), OddDown(b.v))};
}
// The same where all lanes of b are equal.
PROOFMILL_LANES_INLINE Wide MulWideSet(Vec a, Vec b) {
  return {_mm512_mul_epu32(a.v, b.v), _mm512_mul_epu32(OddDown(a.v), b.v)};
}
PROOFMILL_LANES_INLINE Wide AddWide(Wide a, Wide b) {
  return {_mm512_add_epi64(a.even, b.even), _mm512_add_epi64(a.odd, b.odd)};
}
// The upper half of q * p, q = x / p mod 2^32: what Montgomery's reduction takes from the upper half of x.
PROOFMILL_LANES_INLINE __m512i Correction(Wide x) {
  const __m512i p = Set(kP).v, inverse = Set(kPInverse).v;
  return UpperHalves(_mm512_mul_epu32(_mm512_mul_epu32(x.even, inverse), p),
                     _mm512_mul_epu32(_mm512_mul_epu32(x.odd, inverse), p));
}
// x / 2^32 of one product.
PROOFMILL_LANES_INLINE Vec Reduce(Wide x) {
  return Signed(_mm512_sub_epi32(UpperHalves(x.even, x.odd), Correction(x)));
}
// The same of a sum of up to four products.
PROOFMILL_LANES_INLINE Vec ReduceSum(Wide x) {
  return Sub(Below2P(UpperHalves(x.even, x.odd)), {Correction(x)});
}
PROOFMILL_LANES_INLINE Vec Mul(Vec a, Vec b) { return Reduce(MulWide(a, b)); }

// a * b / 2^32 in (-p, p) of the even lanes, in the upper halves. REQUIRES: even lanes in (-p, p).
PROOFMILL_LANES_INLINE __m512i MulSigned(__m512i a, __m512i b) {
  const __m512i product = _mm512_mul_epi32(a, b);
  const __m512i quotient = _mm512_mul_epi32(product, Set(kPInverse).v);
  return _mm512_sub_epi64(product, _mm512_mul_epi32(quotient, Set(kP).v));
}
// x^7 of the even lanes, in the upper halves, in (-p, p).
PROOFMILL_LANES_INLINE __m512i Pow7Signed(__m512i x) {
  const __m512i square = _mm512_srli_epi64(MulSigned(x, x), 32);
  const __m512i cube = _mm512_srli_epi64(MulSigned(square, x), 32);
  const __m512i fourth = _mm512_srli_epi64(MulSigned(square, square), 32);
  return MulSigned(cube, fourth);
}
// (x + c)^7, c given as c - p modulo 2^32.
PROOFMILL_LANES_INLINE Vec SBox(Vec x, Vec c_minus_p) {
  const __m512i sum = _mm512_add_epi32(x.v, c_minus_p.v);
  return Signed(UpperHalves(Pow7Signed(sum), Pow7Signed(_mm512_srli_epi64(sum, 32))));
}

// x / 2^kExponent: with low the last bits of x, 2^-e = -15 * 2^(27 - e) mod p, and 15 * 2^(27 - e) * low < p.
template <int kExponent>
PROOFMILL_LANES_INLINE Vec DivPowerOfTwo(Vec x) {
  static_assert(kExponent >= 1 && kExponent <= 27);
  const __m512i low = _mm512_and_si512(x.v, Set((1u << kExponent) - 1).v);
  const __m512i scaled = _mm512_mullo_epi32(low, Set(15u << (27 - kExponent)).v);
  return Signed(_mm512_sub_epi32(_mm512_srli_epi32(x.v, kExponent), scaled));
}

// Bit i: lane i has all of the bits `mask` zero.
PROOFMILL_LANES_INLINE uint32_t ZeroBits(Vec x, Vec mask) { return _mm512_testn_epi32_mask(x.v, mask.v); }

// Transposes 4 x 4 blocks of words within and then between 128-bit parts.
PROOFMILL_LANES_INLINE void Transpose(Vec* rows) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(rows[i].v, rows[i + 1].v);
    t[i + 1] = _mm512_unpackhi_epi32(rows[i].v, rows[i + 1].v);
  }
  // u[4b + c], part p: column 4p + c of rows 4b .. 4b + 3.
  __m512i u[16];
  for (int b = 0; b < 16; b += 4) {
    u[b] = _mm512_unpacklo_epi64(t[b], t[b + 2]);
    u[b + 1] = _mm512_unpackhi_epi64(t[b], t[b + 2]);
    u[b + 2] = _mm512_unpacklo_epi64(t[b + 1], t[b + 3]);
    u[b + 3] = _mm512_unpackhi_epi64(t[b + 1], t[b + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    const __m512i low01 = _mm512_shuffle_i32x4(u[c], u[4 + c], 0x88),
                  high01 = _mm512_shuffle_i32x4(u[c], u[4 + c], 0xdd);
    const __m512i low23 = _mm512_shuffle_i32x4(u[8 + c], u[12 + c], 0x88),
                  high23 = _mm512_shuffle_i32x4(u[8 + c], u[12 + c], 0xdd);
    rows[c].v = _mm512_shuffle_i32x4(low01, low23, 0x88);
    rows[4 + c].v = _mm512_shuffle_i32x4(high01, high23, 0x88);
    rows[8 + c].v = _mm512_shuffle_i32x4(low01, low23, 0xdd);
    rows[12 + c].v = _mm512_shuffle_i32x4(high01, high23, 0xdd);
  }
}

}  // namespace proofmill::kernels::avx512

#endif  // defined(__AVX512F__)
#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_AVX512_H_
