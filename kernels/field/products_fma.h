// The products under montgomery_fma.h: numbers of five limbs of 52 bits in four lanes of AVX2, multiplied
// with FMA.
//
// A limb below 2^52 is exact in a double. With rounding toward zero, h = fma(a, b, 2^104) has floor(a*b /
// 2^52) in its 52 low bits, and l = fma(a, b, 2^104 + 2^52 - h) has the 52 low bits of a*b in its own; what
// is above these bits is a constant. So the bits of h and l are added as integers, and the constants are
// taken off where a sum starts (Emmart, Zheng, Weems: Faster modular exponentiation using double precision
// floating point arithmetic on the GPU, 2018). Everything here must run under RoundTowardZero.

#ifndef PROOFMILL_KERNELS_FIELD_PRODUCTS_FMA_H_
#define PROOFMILL_KERNELS_FIELD_PRODUCTS_FMA_H_

#if !defined(__AVX2__) || !defined(__FMA__)
#error "only for sources given to proofmill_fma_sources() in CMake"
#endif

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/field/digits52.h"
#include "kernels/field/limbs.h"

#define PROOFMILL_FMA_INLINE [[gnu::always_inline]] inline

namespace proofmill::kernels::fma {

using namespace digits52;  // NOLINT(google-build-using-namespace)

inline constexpr size_t kLanes = 4;

using Vector = __m256i;
using Doubles = __m256d;

// Rounds toward zero while it lives. What computes meanwhile must be in functions that are not inlined into
// the one that owns it: the compiler does not know that the mode matters.
class RoundTowardZero {
 public:
  PROOFMILL_FMA_INLINE RoundTowardZero() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | _MM_ROUND_TOWARD_ZERO);
  }
  PROOFMILL_FMA_INLINE ~RoundTowardZero() { _mm_setcsr(before_); }
  RoundTowardZero(const RoundTowardZero&) = delete;
  RoundTowardZero& operator=(const RoundTowardZero&) = delete;

 private:
  const unsigned before_;
};

PROOFMILL_FMA_INLINE Vector Broadcast(uint64_t x) { return _mm256_set1_epi64x(static_cast<int64_t>(x)); }
PROOFMILL_FMA_INLINE Vector Add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
PROOFMILL_FMA_INLINE Vector Sub(Vector a, Vector b) { return _mm256_sub_epi64(a, b); }
PROOFMILL_FMA_INLINE Vector And(Vector a, Vector b) { return _mm256_and_si256(a, b); }
PROOFMILL_FMA_INLINE Vector Or(Vector a, Vector b) { return _mm256_or_si256(a, b); }
template <int kBits>
PROOFMILL_FMA_INLINE Vector ShiftRight(Vector a) {
  return _mm256_srli_epi64(a, kBits);
}
template <int kBits>
PROOFMILL_FMA_INLINE Vector ShiftLeft(Vector a) {
  return _mm256_slli_epi64(a, kBits);
}

// ---- Doubles.

inline constexpr double kTwo52 = 0x1p52, kTwo104 = 0x1p104;
// What the bits of a low half (in [2^52, 2^53)) and of a high half (in [2^104, 2^105)) count too much.
inline constexpr uint64_t kLowBits = uint64_t{0x433} << 52, kHighBits = uint64_t{0x467} << 52;

// Of integers in [0, 2^52).
PROOFMILL_FMA_INLINE Doubles ToDoubles(Vector x) {
  return _mm256_sub_pd(_mm256_castsi256_pd(Or(x, Broadcast(kLowBits))), _mm256_set1_pd(kTwo52));
}
PROOFMILL_FMA_INLINE Doubles DoublesOf(uint64_t x) { return _mm256_set1_pd(static_cast<double>(x)); }

// The halves of a product; their bits count kLowBits and kHighBits too much.
PROOFMILL_FMA_INLINE Doubles HighHalf(Doubles a, Doubles b) {
  return _mm256_fmadd_pd(a, b, _mm256_set1_pd(kTwo104));
}
PROOFMILL_FMA_INLINE Doubles LowHalf(Doubles a, Doubles b, Doubles high) {
  return _mm256_fmadd_pd(a, b, _mm256_sub_pd(_mm256_set1_pd(kTwo104 + kTwo52), high));
}
// sum + the bits.
PROOFMILL_FMA_INLINE Vector AddBits(Vector sum, Doubles bits) {
  __asm__("vpaddq %1, %0, %0" : "+x"(sum) : "x"(bits));
  return sum;
}
PROOFMILL_FMA_INLINE void MulAdd(Vector& low, Vector& high, Doubles a, Doubles b) {
  const Doubles h = HighHalf(a, b);
  high = AddBits(high, h);
  low = AddBits(low, LowHalf(a, b, h));
}
// a * b mod 2^52, as an integer in a double.
PROOFMILL_FMA_INLINE Doubles MulLow(Doubles a, Doubles b) {
  return _mm256_fmadd_pd(a, b, _mm256_sub_pd(_mm256_set1_pd(kTwo104), HighHalf(a, b)));
}

// The number by which a limb is multiplied to vanish: with k = -p^-1 mod 2^52, k*p is 2^52 * Q - 1. So t plus
// its lowest limb times k*p is divisible by 2^52, and the quotient is floor(t / 2^52) + (lowest limb) * Q.
template <typename Params>
consteval Digits VanishingFactor() {
  Digits out = MultiplyDigits(ToDigits(Params::kModulus), Digits{{Params::kNegInverse & kLimbMask}}, 1);
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = out.limb[j + 1];
  out.limb[kLimbs] = 0;
  out.limb[0] += 1;
  return out;
}

// Minus what the bits of all halves count too much in limb `column` of a sum of n
// products and its reduction.
consteval uint64_t SumStart(int column, int n) {
  uint64_t out = 0;
  const auto row = [&](int first, int begin, uint64_t bits) {
    const int j = column - first;
    if (j >= begin && j < kLimbs) out -= bits;
  };
  for (int i = 0; i < kLimbs; ++i) {
    for (int k = 0; k < n; ++k) {
      row(i, 0, kLowBits);
      row(i + 1, 0, kHighBits);
    }
    const bool last = i == kLimbs - 1;
    row(last ? i : i + 1, last ? 1 : 0, kLowBits);
    row(last ? i + 1 : i + 2, 0, kHighBits);
  }
  return out;
}
// The constants of a product, in every lane, and at the places where the instructions below look for them.
template <typename Params, int kTerms>
struct ProductConstants {
  alignas(32) double vanishing_factor[kLimbs][kLanes];
  double modulus[kLimbs][kLanes];
  double negative_inverse[kLanes];
  double two_52[kLanes], two_104[kLanes], two_104_and_52[kLanes];
  uint64_t limb_mask[kLanes], low_bits[kLanes];
  uint64_t start[2 * kLimbs][kLanes];

  consteval ProductConstants() {
    constexpr Digits q = VanishingFactor<Params>(), p = ToDigits(Params::kModulus);
    for (size_t i = 0; i < kLanes; ++i) {
      for (int j = 0; j < kLimbs; ++j) {
        vanishing_factor[j][i] = static_cast<double>(q.limb[j]);
        modulus[j][i] = static_cast<double>(p.limb[j]);
      }
      negative_inverse[i] = static_cast<double>(Params::kNegInverse & kLimbMask);
      two_52[i] = kTwo52;
      two_104[i] = kTwo104;
      two_104_and_52[i] = kTwo104 + kTwo52;
      limb_mask[i] = kLimbMask;
      low_bits[i] = kLowBits;
      for (int j = 0; j < 2 * kLimbs; ++j) start[j][i] = SumStart(j, kTerms);
    }
  }
};
template <typename Params, int kTerms>
alignas(64) inline constexpr ProductConstants<Params, kTerms> kProductConstants;

// x * y / 2^260 mod p, below 2p, by Montgomery's reduction, one limb after another (Montgomery, 1985), each
// as soon as it is known: the reduction is a chain of long latencies, which the products beside it hide.
// Numbers are five vectors of limbs below 2^52. REQUIRES: x * y < 73 * p^2.
template <typename Params>
PROOFMILL_FMA_INLINE void MultiplyLimbs(const Vector* x, const Vector* y, Vector* out) {
  // Through a pointer that the compiler knows nothing of: it would make each constant again in registers.
  const ProductConstants<Params, 1>* constants = &kProductConstants<Params, 1>;
  __asm__("" : "+r"(constants));
  const auto doubles = [](const double(&lanes)[kLanes]) { return _mm256_load_pd(lanes); };
  const Vector mask = Broadcast(kLimbMask);
  Doubles factor[kLimbs];
  for (int j = 0; j < kLimbs; ++j) factor[j] = ToDoubles(x[j]);
  Vector t[2 * kLimbs];
  for (int j = 0; j < 2 * kLimbs; ++j) {
    t[j] = _mm256_load_si256(reinterpret_cast<const Vector*>(constants->start[j]));
  }
#pragma GCC unroll 5
  for (int i = 0; i < kLimbs; ++i) {
    const Doubles word = ToDoubles(y[i]);
#pragma GCC unroll 5
    for (int j = 0; j < kLimbs; ++j) MulAdd(t[i + j], t[i + j + 1], factor[j], word);
    const Doubles low = ToDoubles(And(t[i], mask));
    if (i + 1 < kLimbs) {
      t[i + 1] = Add(t[i + 1], ShiftRight<kLimbBits>(t[i]));
#pragma GCC unroll 5
      for (int j = 0; j < kLimbs; ++j) {
        MulAdd(t[i + 1 + j], t[i + 2 + j], low, doubles(constants->vanishing_factor[j]));
      }
    } else {
      // The lowest limb is not computed: with m * p[0] it becomes the next multiple of 2^52.
      const Doubles m = MulLow(low, doubles(constants->negative_inverse));
      t[i + 1] = Add(t[i + 1], ShiftRight<kLimbBits>(Add(t[i], mask)));
      t[i + 1] = AddBits(t[i + 1], HighHalf(m, doubles(constants->modulus[0])));
#pragma GCC unroll 5
      for (int j = 1; j < kLimbs; ++j) MulAdd(t[i + j], t[i + j + 1], m, doubles(constants->modulus[j]));
    }
  }
  for (int j = 0; j < kLimbs; ++j) out[j] = t[kLimbs + j];
}

// The instructions of a sum of two products are written down, and not inlined: a compiler keeps much of it on
// the stack, and loops with several of them outgrow a CPU's cache of decoded instructions (GCC 12, MSM in G2
// on an AMD EPYC Zen 3: a sixth less time than inlined C++). Registers: ymm0-5 six limbs of the running sum,
// limb i in ymm(i mod 6); ymm11 what is multiplied by; ymm12-13 halves of a product; ymm8-10 limb_mask, 2^52,
// low_bits; ymm14-15 2^104, 2^104 + 2^52.
#define PROOFMILL_FMA_TERM(factor, low, high)       \
  "vmovapd %%ymm14, %%ymm12\n\tvfmadd231pd " factor \
  ", %%ymm11, %%ymm12\n\t"                          \
  "vpaddq %%ymm12, %%ymm" high ", %%ymm" high       \
  "\n\tvsubpd %%ymm12, %%ymm15, %%ymm13\n\t"        \
  "vfmadd231pd " factor ", %%ymm11, %%ymm13\n\tvpaddq %%ymm13, %%ymm" low ", %%ymm" low "\n\t"
// Five limbs at `base` + o0 .. o4 times ymm11, added to six limbs of the sum.
#define PROOFMILL_FMA_ROW(base, o0, o1, o2, o3, o4, t0, t1, t2, t3, t4, t5) \
  PROOFMILL_FMA_TERM(o0 base, t0, t1)                                       \
  PROOFMILL_FMA_TERM(o1 base, t1, t2)                                       \
  PROOFMILL_FMA_TERM(o2 base, t2, t3) PROOFMILL_FMA_TERM(o3 base, t3, t4) PROOFMILL_FMA_TERM(o4 base, t4, t5)
// The same with the limbs of a factor x and limb `offset` of y; and with those of the numbers after x and y.
#define PROOFMILL_FMA_PRODUCT_ROW(x, y, offset, t0, t1, t2, t3, t4, t5)                                   \
  "vpor " offset "(%[" y "]), %%ymm10, %%ymm11\n\tvsubpd %%ymm9, %%ymm11, %%ymm11\n\t" PROOFMILL_FMA_ROW( \
      "(%[" x "])", "0", "32", "64", "96", "128", t0, t1, t2, t3, t4, t5)
#define PROOFMILL_FMA_NEXT_ROW(x, y, offset, t0, t1, t2, t3, t4, t5)               \
  "vpor 160+" offset "(%[" y                                                       \
  "]), %%ymm10, %%ymm11\n\tvsubpd %%ymm9, %%ymm11, %%ymm11\n\t" PROOFMILL_FMA_ROW( \
      "(%[" x "])", "160", "192", "224", "256", "288", t0, t1, t2, t3, t4, t5)
#define PROOFMILL_FMA_START(offset, t) "vmovdqa " offset "(%[k]), %%ymm" t "\n\t"
// ymm11 = the 52 low bits of t0, as a double.
#define PROOFMILL_FMA_LOW(t0) \
  "vpand %%ymm8, %%ymm" t0    \
  ", %%ymm11\n\tvpor %%ymm10, %%ymm11, %%ymm11\n\tvsubpd %%ymm9, %%ymm11, %%ymm11\n\t"
// Takes t0 away; its register then holds the limb that begins at `start`.
#define PROOFMILL_FMA_VANISH(start, t0, t1, t2, t3, t4, t5)                                               \
  PROOFMILL_FMA_LOW(t0)                                                                                   \
  "vpsrlq $52, %%ymm" t0 ", %%ymm12\n\tvpaddq %%ymm12, %%ymm" t1 ", %%ymm" t1 "\n\t" PROOFMILL_FMA_START( \
      start, t0) PROOFMILL_FMA_ROW("(%[k])", "0", "32", "64", "96", "128", t1, t2, t3, t4, t5, t0)
// The last limb: a multiple of p is added, and the carry is its ceiling.
#define PROOFMILL_FMA_LAST(t0, t1, t2, t3, t4, t5)                                       \
  PROOFMILL_FMA_LOW(t0)                                                                  \
  "vpaddq %%ymm8, %%ymm" t0                                                              \
  ", %%ymm12\n\tvpsrlq $52, %%ymm12, %%ymm12\n\t"                                        \
  "vpaddq %%ymm12, %%ymm" t1 ", %%ymm" t1                                                \
  "\n\tvmovapd %%ymm14, %%ymm12\n\t"                                                     \
  "vfmadd231pd 320(%[k]), %%ymm11, %%ymm12\n\tvsubpd %%ymm12, %%ymm14, %%ymm13\n\t"      \
  "vfmadd132pd 320(%[k]), %%ymm13, %%ymm11\n\tvmovapd %%ymm14, %%ymm12\n\t"              \
  "vfmadd231pd 160(%[k]), %%ymm11, %%ymm12\n\tvpaddq %%ymm12, %%ymm" t1 ", %%ymm" t1     \
  "\n\t" PROOFMILL_FMA_TERM("192(%[k])", t1, t2) PROOFMILL_FMA_TERM("224(%[k])", t2, t3) \
      PROOFMILL_FMA_TERM("256(%[k])", t3, t4) PROOFMILL_FMA_TERM("288(%[k])", t4, t5)
#define PROOFMILL_FMA_BEGIN                                                                           \
  "vmovapd 352(%[k]), %%ymm9\n\tvmovapd 384(%[k]), %%ymm14\n\tvmovapd 416(%[k]), %%ymm15\n\t"         \
  "vmovdqa 448(%[k]), %%ymm8\n\tvmovdqa 480(%[k]), %%ymm10\n\t" PROOFMILL_FMA_START("512", "0")       \
      PROOFMILL_FMA_START("544", "1") PROOFMILL_FMA_START("576", "2") PROOFMILL_FMA_START("608", "3") \
          PROOFMILL_FMA_START("640", "4") PROOFMILL_FMA_START("672", "5")
// `product_row` adds a row of each product. The steps are those of MultiplyLimbs().
#define PROOFMILL_FMA_SUM(product_row) \
  PROOFMILL_FMA_BEGIN                  \
  product_row("0", "0", "1", "2", "3", "4", "5") PROOFMILL_FMA_VANISH("704", "0", "1", "2", "3", "4", "5")   \
  product_row("32", "1", "2", "3", "4", "5", "0") PROOFMILL_FMA_VANISH("736", "1", "2", "3", "4", "5", "0")  \
  product_row("64", "2", "3", "4", "5", "0", "1") PROOFMILL_FMA_VANISH("768", "2", "3", "4", "5", "0", "1")  \
  product_row("96", "3", "4", "5", "0", "1", "2") PROOFMILL_FMA_VANISH("800", "3", "4", "5", "0", "1", "2")  \
  product_row("128", "4", "5", "0", "1", "2", "3") PROOFMILL_FMA_LAST("4", "5", "0", "1", "2", "3")          \
  "vmovdqa %%ymm5, (%[out])\n\tvmovdqa %%ymm0, 32(%[out])\n\tvmovdqa %%ymm1, 64(%[out])\n\t"            \
  "vmovdqa %%ymm2, 96(%[out])\n\tvmovdqa %%ymm3, 128(%[out])\n\t"
#define PROOFMILL_FMA_TWO_ROWS(...) \
  PROOFMILL_FMA_PRODUCT_ROW("x", "y", __VA_ARGS__) PROOFMILL_FMA_PRODUCT_ROW("z", "w", __VA_ARGS__)
#define PROOFMILL_FMA_SIX_ROWS(...)                  \
  PROOFMILL_FMA_PRODUCT_ROW("x0", "y0", __VA_ARGS__) \
  PROOFMILL_FMA_NEXT_ROW("x0", "y0", __VA_ARGS__)    \
  PROOFMILL_FMA_PRODUCT_ROW("x1", "y1", __VA_ARGS__) \
  PROOFMILL_FMA_NEXT_ROW("x1", "y1", __VA_ARGS__)    \
  PROOFMILL_FMA_PRODUCT_ROW("x2", "y2", __VA_ARGS__) \
  PROOFMILL_FMA_NEXT_ROW("x2", "y2", __VA_ARGS__)
#define PROOFMILL_FMA_CLOBBERS                                                                        \
  "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm8", "ymm9", "ymm10", "ymm11", "ymm12", "ymm13", \
      "ymm14", "ymm15", "memory"

template <typename Params, int kTerms>
constexpr bool ConstantsAreWhereTheyAreLookedFor() {
  using Constants = ProductConstants<Params, kTerms>;
  return offsetof(Constants, vanishing_factor) == 0 && offsetof(Constants, modulus) == 160 &&
         offsetof(Constants, negative_inverse) == 320 && offsetof(Constants, two_52) == 352 &&
         offsetof(Constants, two_104) == 384 && offsetof(Constants, two_104_and_52) == 416 &&
         offsetof(Constants, limb_mask) == 448 && offsetof(Constants, low_bits) == 480 &&
         offsetof(Constants, start) == 512;
}

// (x * y + z * w) / 2^260 mod p, likewise. REQUIRES: x * y + z * w < 73 * p^2.
template <typename Params>
[[gnu::noinline]] void MultiplyAddLimbs(const Vector* x, const Vector* y, const Vector* z, const Vector* w,
                                        Vector* out) {
  static_assert(ConstantsAreWhereTheyAreLookedFor<Params, 2>());
  Doubles factor[2][kLimbs];
  for (int j = 0; j < kLimbs; ++j) factor[0][j] = ToDoubles(x[j]);
  for (int j = 0; j < kLimbs; ++j) factor[1][j] = ToDoubles(z[j]);
  __asm__(PROOFMILL_FMA_SUM(PROOFMILL_FMA_TWO_ROWS)
          :
          : [x] "r"(factor[0]), [y] "r"(y), [z] "r"(factor[1]), [w] "r"(w), [out] "r"(out),
            [k] "r"(&kProductConstants<Params, 2>)
          : PROOFMILL_FMA_CLOBBERS);
}

// The same of six products: x0, x1 and x2 are two factors each, one after the other and in doubles, and y0,
// y1 and y2 two numbers each.
template <typename Params>
[[gnu::noinline]] void MultiplyAddSixLimbs(const Doubles* x0, const Vector* y0, const Doubles* x1,
                                           const Vector* y1, const Doubles* x2, const Vector* y2,
                                           Vector* out) {
  static_assert(ConstantsAreWhereTheyAreLookedFor<Params, 6>());
  __asm__(PROOFMILL_FMA_SUM(PROOFMILL_FMA_SIX_ROWS)
          :
          : [x0] "r"(x0), [y0] "r"(y0), [x1] "r"(x1), [y1] "r"(y1), [x2] "r"(x2), [y2] "r"(y2),
            [out] "r"(out), [k] "r"(&kProductConstants<Params, 6>)
          : PROOFMILL_FMA_CLOBBERS);
}

#undef PROOFMILL_FMA_TERM
#undef PROOFMILL_FMA_ROW
#undef PROOFMILL_FMA_PRODUCT_ROW
#undef PROOFMILL_FMA_NEXT_ROW
#undef PROOFMILL_FMA_START
#undef PROOFMILL_FMA_LOW
#undef PROOFMILL_FMA_VANISH
#undef PROOFMILL_FMA_LAST
#undef PROOFMILL_FMA_BEGIN
#undef PROOFMILL_FMA_SUM
#undef PROOFMILL_FMA_TWO_ROWS
#undef PROOFMILL_FMA_SIX_ROWS
#undef PROOFMILL_FMA_CLOBBERS

}  // namespace proofmill::kernels::fma

#endif  // PROOFMILL_KERNELS_FIELD_PRODUCTS_FMA_H_
