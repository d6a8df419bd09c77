// One BabyBear element at a time, in portable C++. Internal to babybear_lanes.h, which says what is what.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_PORTABLE_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_PORTABLE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/babybear.h"

#if !defined(PROOFMILL_LANES_INLINE)
#define PROOFMILL_LANES_INLINE [[gnu::always_inline]] inline
#define PROOFMILL_LANES_BODY __attribute__((always_inline))
#endif

namespace proofmill::kernels::portable {

inline constexpr size_t kLanes = 1;
inline constexpr size_t kLogLanes = 0;
inline constexpr uint32_t kP = kBabyBearP;

struct Vec {
  uint32_t v;
};
struct Wide {
  uint64_t v;
};

PROOFMILL_LANES_INLINE Vec Set(uint32_t x) { return {x}; }
PROOFMILL_LANES_INLINE Vec Load(const uint32_t* from) { return {*from}; }
PROOFMILL_LANES_INLINE void Store(uint32_t* to, Vec x) { *to = x.v; }
PROOFMILL_LANES_INLINE void Prefetch(const uint32_t* /*at*/) {}

PROOFMILL_LANES_INLINE uint32_t Below2P(uint32_t x) { return x - (x >= kP ? kP : 0); }
PROOFMILL_LANES_INLINE Vec Add(Vec a, Vec b) { return {Below2P(a.v + b.v)}; }
PROOFMILL_LANES_INLINE Vec Sub(Vec a, Vec b) { return {a.v - b.v + (a.v < b.v ? kP : 0)}; }

PROOFMILL_LANES_INLINE Wide MulWide(Vec a, Vec b) { return {uint64_t{a.v} * b.v}; }
// The same where all lanes of b are equal.
PROOFMILL_LANES_INLINE Wide MulWideSet(Vec a, Vec b) { return MulWide(a, b); }
PROOFMILL_LANES_INLINE Wide AddWide(Wide a, Wide b) { return {a.v + b.v}; }
// x / 2^32 of one product.
PROOFMILL_LANES_INLINE Vec Reduce(Wide x) { return {BabyBearReduce(x.v)}; }
// The same of a sum of up to four products.
PROOFMILL_LANES_INLINE Vec ReduceSum(Wide x) {
  constexpr uint64_t kPR = uint64_t{kP} << 32;
  return {BabyBearReduce(x.v - (x.v >= kPR ? kPR : 0))};
}
PROOFMILL_LANES_INLINE Vec Mul(Vec a, Vec b) { return Reduce(MulWide(a, b)); }

// (x + c)^7, c given as c - p modulo 2^32.
PROOFMILL_LANES_INLINE Vec SBox(Vec x, Vec c_minus_p) {
  const Vec sum = {Below2P(x.v + c_minus_p.v + kP)};
  const Vec square = Mul(sum, sum);
  return Mul(Mul(square, sum), Mul(square, square));
}

// x / 2^kExponent: with low the last bits of x, 2^-e = -15 * 2^(27 - e) mod p, and 15 * 2^(27 - e) * low < p.
template <int kExponent>
PROOFMILL_LANES_INLINE Vec DivPowerOfTwo(Vec x) {
  static_assert(kExponent >= 1 && kExponent <= 27);
  return Sub({x.v >> kExponent}, {(x.v & ((1u << kExponent) - 1)) * (15u << (27 - kExponent))});
}

// Bit i: lane i has all of the bits `mask` zero.
PROOFMILL_LANES_INLINE uint32_t ZeroBits(Vec x, Vec mask) { return (x.v & mask.v) == 0 ? 1 : 0; }

PROOFMILL_LANES_INLINE void Transpose(Vec* /*rows*/) {}

// The first eight words of each state become digest number places[lane].
PROOFMILL_LANES_INLINE void StoreDigests(const Vec* s, uint32_t* digests, const size_t* places) {
  for (size_t i = 0; i < 8; ++i) digests[8 * places[0] + i] = s[i].v;
}

}  // namespace proofmill::kernels::portable

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_PORTABLE_H_
