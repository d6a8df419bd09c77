// Inversion modulo a 254-bit prime by division steps (Bernstein and Yang, "Fast constant-time gcd computation
// and modular inversion", 2019, in the half-delta form of Wuille, for which 590 steps are enough for 256
// bits). No branch and no memory access depends on the value. For device code; host code can run it too, so
// that tests can.
//
// One thread takes 600 steps in 20 batches of 30. A batch works on the low 30 bits of f and g and gathers a
// 2 x 2 matrix, which is then applied to f and g, and modulo p to the cofactors d and e. All of it is small
// integer work that leaves the multipliers of a GPU to other threads.

#ifndef PROOFMILL_KERNELS_FIELD_DIVSTEPS_CUH_
#define PROOFMILL_KERNELS_FIELD_DIVSTEPS_CUH_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels::divsteps {

constexpr int kLimbs = 9;
constexpr int kLimbBits = 30;
constexpr int kBatches = 20;
constexpr uint32_t kLimbMask = (uint32_t{1} << kLimbBits) - 1;

// The sum of limb[i] * 2^(30 i); all limbs but the top one, which has the sign, lie in [0, 2^30).
struct Number {
  int32_t limb[kLimbs];
};

// 2^30 times the matrix of 30 division steps: (f, g) becomes (u f + v g, q f + r g) / 2^30. |u| + |v| and
// |q| + |r| are at most 2^30.
struct Matrix {
  int32_t u, v, q, r;
};

PROOFMILL_HD constexpr Number Split(const U256& x) {
  Number out{};
  for (int i = 0; i < kLimbs; ++i) {
    const int bit = i * kLimbBits;
    const int shift = bit % 64;
    uint64_t word = x.limb[bit / 64] >> shift;
    if (shift > 64 - kLimbBits && bit / 64 + 1 < 4) word |= x.limb[bit / 64 + 1] << (64 - shift);
    out.limb[i] = static_cast<int32_t>(static_cast<uint32_t>(word) & kLimbMask);
  }
  return out;
}

// REQUIRES: 0 <= x < 2^256.
PROOFMILL_HD constexpr U256 Join(const Number& x) {
  U256 out{};
  for (int i = 0; i < kLimbs; ++i) {
    const int bit = i * kLimbBits;
    const int shift = bit % 64;
    const auto limb = static_cast<uint64_t>(static_cast<uint32_t>(x.limb[i]));
    out.limb[bit / 64] |= limb << shift;
    if (shift > 64 - kLimbBits && bit / 64 + 1 < 4) out.limb[bit / 64 + 1] |= limb >> (64 - shift);
  }
  return out;
}

// sum + x * y, one instruction on a device.
PROOFMILL_HD inline int64_t MulAdd(int64_t sum, int32_t x, int32_t y) {
#if defined(__CUDA_ARCH__)
  asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(sum) : "r"(x), "r"(y));
  return sum;
#else
  return sum + int64_t{x} * y;
#endif
}

// One division step, with f odd: where delta > 0 and g is odd, (delta, f, g) = (1 - delta, g, (g - f) / 2),
// else (1 + delta, f, (g + (g mod 2) f) / 2). The cofactors (u, v) of f and (q, r) of g follow, times 2.
PROOFMILL_HD inline void Step(int32_t& twice_delta, uint32_t& f, uint32_t& g, uint32_t& u, uint32_t& v,
                              uint32_t& q, uint32_t& r) {
#if defined(__CUDA_ARCH__)
  // Additions under predicates: additions have two pipes, where logic and selection have one.
  asm("{ .reg .pred odd, swap, keep; .reg .u32 bit;"
      "and.b32 bit, %2, 1; setp.ne.u32 odd, bit, 0;"
      "setp.gt.and.s32 swap, %0, 0, odd; setp.le.and.s32 keep, %0, 0, odd;"
      "@keep add.u32 %2, %2, %1; @keep add.u32 %5, %5, %3; @keep add.u32 %6, %6, %4;"
      "@swap sub.u32 %2, %2, %1; @swap sub.u32 %5, %5, %3; @swap sub.u32 %6, %6, %4;"
      "@swap add.u32 %1, %1, %2; @swap add.u32 %3, %3, %5; @swap add.u32 %4, %4, %6;"
      "@swap neg.s32 %0, %0; add.s32 %0, %0, 2;"
      "shr.s32 %2, %2, 1; add.u32 %3, %3, %3; add.u32 %4, %4, %4; }"
      : "+r"(twice_delta), "+r"(f), "+r"(g), "+r"(u), "+r"(v), "+r"(q), "+r"(r));
#else
  const uint32_t odd = 0u - (g & 1);
  const uint32_t positive = twice_delta > 0 ? ~uint32_t{0} : 0;
  g += ((f ^ positive) - positive) & odd;
  q += ((u ^ positive) - positive) & odd;
  r += ((v ^ positive) - positive) & odd;
  // Where both hold the new f is the old g = (g - f) + f.
  const uint32_t swap = positive & odd;
  f += g & swap;
  u += q & swap;
  v += r & swap;
  twice_delta = static_cast<int32_t>((static_cast<uint32_t>(twice_delta) ^ swap) - swap) + 2;
  g = static_cast<uint32_t>(static_cast<int32_t>(g) >> 1);
  u += u;
  v += v;
#endif
}

// The matrix of 30 steps, by the low bits of f and g. twice_delta is at first 1.
PROOFMILL_HD inline Matrix Steps(uint32_t f, uint32_t g, int32_t& twice_delta) {
  uint32_t u = 1, v = 0, q = 0, r = 1;
#if defined(__CUDA_ARCH__)
#pragma unroll 10
#endif
  for (int i = 0; i < kLimbBits; ++i) Step(twice_delta, f, g, u, v, q, r);
  return {static_cast<int32_t>(u), static_cast<int32_t>(v), static_cast<int32_t>(q), static_cast<int32_t>(r)};
}

// (f, g) = t * (f, g) / 2^30, which is exact.
PROOFMILL_HD inline void Apply(const Matrix& t, Number& f, Number& g) {
  int64_t f_sum = MulAdd(MulAdd(0, t.u, f.limb[0]), t.v, g.limb[0]) >> kLimbBits;
  int64_t g_sum = MulAdd(MulAdd(0, t.q, f.limb[0]), t.r, g.limb[0]) >> kLimbBits;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 1; i < kLimbs; ++i) {
    f_sum = MulAdd(MulAdd(f_sum, t.u, f.limb[i]), t.v, g.limb[i]);
    g_sum = MulAdd(MulAdd(g_sum, t.q, f.limb[i]), t.r, g.limb[i]);
    f.limb[i - 1] = static_cast<int32_t>(static_cast<uint32_t>(f_sum) & kLimbMask);
    g.limb[i - 1] = static_cast<int32_t>(static_cast<uint32_t>(g_sum) & kLimbMask);
    f_sum >>= kLimbBits;
    g_sum >>= kLimbBits;
  }
  f.limb[kLimbs - 1] = static_cast<int32_t>(f_sum);
  g.limb[kLimbs - 1] = static_cast<int32_t>(g_sum);
}

// x * p^-1 mod 2^30, negated, in [-2^29, 2^29): the multiple of p that clears the low 30 bits of x.
template <typename Params>
PROOFMILL_HD inline int32_t ClearingMultiple(int64_t x) {
  constexpr auto kNegInverse = static_cast<uint32_t>(Params::kNegInverse);
  constexpr int kUnused = 32 - kLimbBits;
  return static_cast<int32_t>((static_cast<uint32_t>(x) * kNegInverse) << kUnused) >> kUnused;
}

// (d, e) = t * (d, e) / 2^30 mod p. A result is at most max(|d|, |e|) + p/2, since 2^30 bounds the rows of t:
// after all batches below 11 p, which nine limbs hold.
template <typename Params>
PROOFMILL_HD inline void ApplyModulo(const Matrix& t, Number& d, Number& e) {
  constexpr Number p = Split(Params::kModulus);
  int64_t d_sum = MulAdd(MulAdd(0, t.u, d.limb[0]), t.v, e.limb[0]);
  int64_t e_sum = MulAdd(MulAdd(0, t.q, d.limb[0]), t.r, e.limb[0]);
  const int32_t d_multiple = ClearingMultiple<Params>(d_sum);
  const int32_t e_multiple = ClearingMultiple<Params>(e_sum);
  d_sum = MulAdd(d_sum, d_multiple, p.limb[0]) >> kLimbBits;
  e_sum = MulAdd(e_sum, e_multiple, p.limb[0]) >> kLimbBits;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 1; i < kLimbs; ++i) {
    d_sum = MulAdd(MulAdd(MulAdd(d_sum, t.u, d.limb[i]), t.v, e.limb[i]), d_multiple, p.limb[i]);
    e_sum = MulAdd(MulAdd(MulAdd(e_sum, t.q, d.limb[i]), t.r, e.limb[i]), e_multiple, p.limb[i]);
    d.limb[i - 1] = static_cast<int32_t>(static_cast<uint32_t>(d_sum) & kLimbMask);
    e.limb[i - 1] = static_cast<int32_t>(static_cast<uint32_t>(e_sum) & kLimbMask);
    d_sum >>= kLimbBits;
    e_sum >>= kLimbBits;
  }
  d.limb[kLimbs - 1] = static_cast<int32_t>(d_sum);
  e.limb[kLimbs - 1] = static_cast<int32_t>(e_sum);
}

// x + multiple * p.
template <typename Params>
PROOFMILL_HD inline Number AddModulus(const Number& x, int32_t multiple) {
  constexpr Number p = Split(Params::kModulus);
  Number out{};
  int64_t sum = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < kLimbs; ++i) {
    sum = MulAdd(sum + x.limb[i], multiple, p.limb[i]);
    out.limb[i] = static_cast<int32_t>(static_cast<uint32_t>(sum) & kLimbMask);
    if (i + 1 < kLimbs) sum >>= kLimbBits;
  }
  out.limb[kLimbs - 1] = static_cast<int32_t>(sum);
  return out;
}

// The inverse of a plain a modulo the prime of Params, plain and below p; 0 gives 0. REQUIRES: a < p < 2^254.
template <typename Params>
PROOFMILL_HD inline U256 Inverse(const U256& a) {
  Number f = Split(Params::kModulus);
  Number g = Split(a);
  Number d{};
  Number e{};
  e.limb[0] = 1;
  int32_t twice_delta = 1;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int i = 0; i < kBatches; ++i) {
    const Matrix t = Steps(static_cast<uint32_t>(f.limb[0]), static_cast<uint32_t>(g.limb[0]), twice_delta);
    Apply(t, f, g);
    ApplyModulo<Params>(t, d, e);
  }
  // f is 1 or -1 (p where a is 0, and d is 0 then), and f = d * a: the inverse is d * f, in (-11 p, 11 p).
  const int32_t sign = f.limb[kLimbs - 1] >> 31;
  int32_t carry = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < kLimbs; ++i) {
    const int32_t limb = ((d.limb[i] ^ sign) - sign) + carry;
    if (i + 1 < kLimbs) {
      d.limb[i] = static_cast<int32_t>(static_cast<uint32_t>(limb) & kLimbMask);
      carry = limb >> kLimbBits;
    } else {
      d.limb[i] = limb;
    }
  }
  d = AddModulus<Params>(d, 16);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int32_t multiple = 16; multiple > 0; multiple /= 2) {
    const Number less = AddModulus<Params>(d, -multiple);
    const int32_t negative = less.limb[kLimbs - 1] >> 31;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int i = 0; i < kLimbs; ++i) d.limb[i] = (d.limb[i] & negative) | (less.limb[i] & ~negative);
  }
  return Join(d);
}

}  // namespace proofmill::kernels::divsteps

#endif  // PROOFMILL_KERNELS_FIELD_DIVSTEPS_CUH_
