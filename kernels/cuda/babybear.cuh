// BabyBear and its extensions in registers, on words: Montgomery forms, fully reduced. Device code only.
//
// Sums of products are kept in 64 bits. Their high word is taken modulo p after every second product, since p
// * 2^32 = 0 modulo p: with it below p, two more products stay below p * 2^32 + 2 p^2 < 2^64.

#ifndef PROOFMILL_KERNELS_CUDA_BABYBEAR_CUH_
#define PROOFMILL_KERNELS_CUDA_BABYBEAR_CUH_

#include <cstdint>

#include "kernels/field/babybear.h"
#include "kernels/field/babybear_ext.h"

namespace proofmill::kernels::device {

inline constexpr uint32_t kP = kBabyBearP;

__device__ __forceinline__ uint32_t Add(uint32_t a, uint32_t b) {
  const uint32_t sum = a + b;
  return min(sum, sum - kP);
}
__device__ __forceinline__ uint32_t Sub(uint32_t a, uint32_t b) {
  const uint32_t difference = a - b;
  return min(difference, difference + kP);
}
__device__ __forceinline__ uint32_t Double(uint32_t a) { return Add(a, a); }

// x / 2^32 modulo p. REQUIRES: x < p * 2^32.
__device__ __forceinline__ uint32_t Reduce(uint64_t x) {
  const uint32_t quotient = static_cast<uint32_t>(x) * kBabyBearPInverse;
  return Sub(static_cast<uint32_t>(x >> 32), __umulhi(quotient, kP));
}
__device__ __forceinline__ uint32_t Mul(uint32_t a, uint32_t b) { return Reduce(uint64_t{a} * b); }

// The same for factors between -p and p, whose product may be of either sign: two operations less, as nothing
// is brought into range.
__device__ __forceinline__ int32_t MulSigned(int32_t a, int32_t b) {
  const int64_t product = int64_t{a} * b;
  const uint32_t quotient = static_cast<uint32_t>(product) * kBabyBearPInverse;
  return static_cast<int32_t>(product >> 32) -
         __mulhi(static_cast<int32_t>(quotient), static_cast<int32_t>(kP));
}
// Brings a number between -p and p into range.
__device__ __forceinline__ uint32_t FromSigned(int32_t x) {
  const auto word = static_cast<uint32_t>(x);
  return min(word, word + kP);
}

// Brings a sum below 2p * 2^32 below p * 2^32.
__device__ __forceinline__ uint64_t Shorten(uint64_t x) {
  const auto high = static_cast<uint32_t>(x >> 32);
  return uint64_t{min(high, high - kP)} << 32 | static_cast<uint32_t>(x);
}

// x / 2^kShift modulo p = 15 * 2^27 + 1: with x = high * 2^kShift + low, that is high - 15 * 2^(27 - kShift)
// * low.
template <int kShift>
__device__ __forceinline__ uint32_t DivPowerOfTwo(uint32_t x) {
  const uint32_t low = x & ((1u << kShift) - 1);
  return Sub(x >> kShift, low * (15u << (27 - kShift)));
}

template <int kD>
struct Ext {
  uint32_t c[kD];
};

template <int kD>
__device__ __forceinline__ Ext<kD> ExtFromBase(uint32_t x) {
  Ext<kD> out = {};
  out.c[0] = x;
  return out;
}
template <int kD>
__device__ __forceinline__ Ext<kD> ExtOne() {
  return ExtFromBase<kD>(kBabyBearR);
}
template <int kD>
__device__ __forceinline__ Ext<kD> operator+(const Ext<kD>& a, const Ext<kD>& b) {
  Ext<kD> out;
#pragma unroll
  for (int i = 0; i < kD; ++i) out.c[i] = Add(a.c[i], b.c[i]);
  return out;
}
template <int kD>
__device__ __forceinline__ Ext<kD> operator-(const Ext<kD>& a, const Ext<kD>& b) {
  Ext<kD> out;
#pragma unroll
  for (int i = 0; i < kD; ++i) out.c[i] = Sub(a.c[i], b.c[i]);
  return out;
}
template <int kD>
__device__ __forceinline__ Ext<kD> Scale(const Ext<kD>& a, uint32_t b) {
  Ext<kD> out;
#pragma unroll
  for (int i = 0; i < kD; ++i) out.c[i] = Mul(a.c[i], b);
  return out;
}

// The w of X^kD = w, in Montgomery form.
template <int kD>
inline constexpr uint32_t kNonResidueWord =
    BabyBear::FromCanonical(BabyBearExt<kD>::kNonResidue).montgomery();

// What multiplies many elements: b, and w * b for the products that wrap round.
template <int kD>
struct Factor {
  uint32_t b[kD], wb[kD];
};
template <int kD>
__device__ __forceinline__ Factor<kD> MakeFactor(const Ext<kD>& b) {
  Factor<kD> out;
#pragma unroll
  for (int i = 0; i < kD; ++i) {
    out.b[i] = b.c[i];
    out.wb[i] = Mul(b.c[i], kNonResidueWord<kD>);
  }
  return out;
}
// Coefficient k of a * factor takes a[i] times this.
template <int kD>
__device__ __forceinline__ uint32_t FactorWord(const Factor<kD>& factor, int k, int i) {
  return i <= k ? factor.b[k - i] : factor.wb[k + kD - i];
}
template <int kD>
__device__ __forceinline__ Ext<kD> operator*(const Ext<kD>& a, const Factor<kD>& factor) {
  Ext<kD> out;
#pragma unroll
  for (int k = 0; k < kD; ++k) {
    uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < kD; ++i) {
      if (i == 4) sum = Shorten(sum);  // four products from zero stay below 2p * 2^32
      sum += uint64_t{a.c[i]} * FactorWord(factor, k, i);
    }
    out.c[k] = Reduce(Shorten(sum));
  }
  return out;
}
template <int kD>
__device__ __forceinline__ Ext<kD> operator*(const Ext<kD>& a, const Ext<kD>& b) {
  return a * MakeFactor(b);
}

template <int kD>
__device__ __forceinline__ Ext<kD> Power(Ext<kD> base, uint32_t exponent) {
  Ext<kD> out = ExtOne<kD>();
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = out * base;
    base = base * base;
  }
  return out;
}
__device__ __forceinline__ uint32_t Power(uint32_t base, uint64_t exponent) {
  uint32_t out = kBabyBearR;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = Mul(out, base);
    base = Mul(base, base);
  }
  return out;
}

// Coefficient k of element i is at data[k * stride + i].
template <int kD>
__device__ __forceinline__ Ext<kD> LoadPlanes(const uint32_t* data, uint64_t stride, uint64_t i) {
  Ext<kD> out;
#pragma unroll
  for (int k = 0; k < kD; ++k) out.c[k] = data[k * stride + i];
  return out;
}
template <int kD>
__device__ __forceinline__ void StorePlanes(uint32_t* data, uint64_t stride, uint64_t i, const Ext<kD>& x) {
#pragma unroll
  for (int k = 0; k < kD; ++k) data[k * stride + i] = x.c[k];
}
// An element as kD words side by side.
template <int kD>
__device__ __forceinline__ Ext<kD> LoadExt(const uint32_t* words) {
  return LoadPlanes<kD>(words, 1, 0);
}
template <int kD>
__device__ __forceinline__ void StoreExt(uint32_t* words, const Ext<kD>& x) {
  StorePlanes<kD>(words, 1, 0, x);
}

// The low `bits` bits of x in reverse. REQUIRES: bits <= 32, x < 2^bits.
__device__ __forceinline__ uint32_t ReverseBits(uint32_t x, uint32_t bits) {
  return bits == 0 ? 0 : __brev(x) >> (32 - bits);
}

// The sum over a block of kThreads threads of kWords words each, in every thread of the first warp. All
// threads of the block must call it; ends with a barrier.
template <int kThreads, int kWords>
__device__ __forceinline__ void BlockSum(uint32_t (&words)[kWords]) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);
  __shared__ uint32_t parts[kThreads / 32][kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    for (int half = 16; half > 0; half /= 2)
      words[i] = Add(words[i], __shfl_xor_sync(0xffffffffu, words[i], half));
  }
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) parts[threadIdx.x / 32][i] = words[i];
  }
  __syncthreads();
  if (threadIdx.x < 32) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      words[i] = threadIdx.x < kThreads / 32 ? parts[threadIdx.x][i] : 0;
      for (int half = 16; half > 0; half /= 2)
        words[i] = Add(words[i], __shfl_xor_sync(0xffffffffu, words[i], half));
    }
  }
  __syncthreads();
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_BABYBEAR_CUH_
