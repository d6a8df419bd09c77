// Many BabyBear elements at once: sixteen in AVX-512, eight in AVX2, one in portable C++ elsewhere. Which of
// them is decided by the flags of the translation unit that includes this, and each lives in a namespace of
// its own, so that no function compiled for a wider machine can be picked for another
// (tests/checks/ifma_objects.py).
//
// Vec holds Montgomery forms, fully reduced unless said. A product of two Vec is made of 64-bit products of
// the even and of the odd lanes; Wide keeps sums of up to four of them, below 4 p^2 < 2^64, for one
// reduction.
//
// Time does not depend on the values.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_H_

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define PROOFMILL_LANES avx512
#include "kernels/cpu/babybear_lanes_avx512.h"
#elif defined(__AVX2__)
#define PROOFMILL_LANES avx2
#include "kernels/cpu/babybear_lanes_avx2.h"
#else
#define PROOFMILL_LANES portable
#include "kernels/cpu/babybear_lanes_portable.h"
#endif

namespace proofmill::kernels::PROOFMILL_LANES {

// The first `count` of the lanes; the others are zero. REQUIRES: 0 < count <= kLanes.
PROOFMILL_LANES_INLINE Vec LoadSome(const uint32_t* from, size_t count) {
  if (count == kLanes) return Load(from);
  alignas(64) uint32_t lanes[kLanes] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return Load(lanes);
}
PROOFMILL_LANES_INLINE void StoreSome(uint32_t* to, Vec x, size_t count) {
  if (count == kLanes) return Store(to, x);
  alignas(64) uint32_t lanes[kLanes];
  Store(lanes, x);
  for (size_t i = 0; i < count; ++i) to[i] = lanes[i];
}

#if defined(__AVX2__)
// The first eight words of each state become digest number places[lane].
PROOFMILL_LANES_INLINE void StoreDigests(const Vec* s, uint32_t* digests, const size_t* places) {
  Vec rows[kLanes];
  for (size_t i = 0; i < kLanes; ++i) rows[i] = i < 8 ? s[i] : Set(0);
  Transpose(rows);
  for (size_t l = 0; l < kLanes; ++l) StoreEight(digests + 8 * places[l], rows[l]);
}
#endif

// f(0), f(1), .. f(kCount - 1), one after the other without a loop, so that arrays indexed by it can be
// registers.
template <size_t kCount, size_t kFirst = 0, typename F>
PROOFMILL_LANES_INLINE void Unrolled(const F& f) {
  if constexpr (kFirst < kCount) {
    f(kFirst);
    Unrolled<kCount, kFirst + 1>(f);
  }
}

PROOFMILL_LANES_INLINE Vec Double(Vec x) { return Add(x, x); }

// The sum of all lanes.
PROOFMILL_LANES_INLINE uint32_t SumLanes(Vec x) {
  alignas(64) uint32_t lanes[kLanes];
  Store(lanes, x);
  uint64_t sum = 0;
  for (const uint32_t lane : lanes) sum += lane;
  return static_cast<uint32_t>(sum % kP);
}

}  // namespace proofmill::kernels::PROOFMILL_LANES

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_LANES_H_
