// Coordinates of several points at a time, for code that serves G1 and G2: where they lie in memory, and the
// lanes that hold them.

#ifndef PROOFMILL_KERNELS_CPU_COORDINATES_LANES_H_
#define PROOFMILL_KERNELS_CPU_COORDINATES_LANES_H_

#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fq2_lanes.h"
#include "kernels/field/lanes52.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {

// at(i) gives lane i as a const F*, or as an F* to be stored to. F is only pointed at: none of its functions
// may be instantiated here (montgomery_ifma.h says why).
template <typename F>
struct Coordinates;

template <>
struct Coordinates<Fq> {
  template <uint32_t kBound>
  using TightLanes = Tight<FqParams, kBound>;

  template <uint32_t kBound = 1, typename At>
  PROOFMILL_LANES52_INLINE static TightLanes<kBound> LoadFrom(const At& at) {
    return PROOFMILL_LANES52::LoadFrom<FqParams, kBound>(
        [&](size_t i) { return reinterpret_cast<const U256*>(at(i)); });
  }
  template <typename At>
  PROOFMILL_LANES52_INLINE static void StoreTo(const At& at, const TightLanes<1>& x) {
    PROOFMILL_LANES52::StoreTo([&](size_t i) { return reinterpret_cast<U256*>(at(i)); }, x);
  }
  PROOFMILL_LANES52_INLINE static TightLanes<1> One() { return PowerOfTwo<FqParams, 260>(); }
};

template <>
struct Coordinates<Fq2> {
  template <uint32_t kBound>
  using TightLanes = TightFq2<kBound>;
  using Part = Coordinates<Fq>;

  template <uint32_t kBound = 1, typename At>
  PROOFMILL_LANES52_INLINE static TightLanes<kBound> LoadFrom(const At& at) {
    return {Part::LoadFrom<kBound>([&](size_t i) { return &at(i)->c0; }),
            Part::LoadFrom<kBound>([&](size_t i) { return &at(i)->c1; })};
  }
  template <typename At>
  PROOFMILL_LANES52_INLINE static void StoreTo(const At& at, const TightLanes<1>& x) {
    Part::StoreTo([&](size_t i) { return &at(i)->c0; }, x.c0);
    Part::StoreTo([&](size_t i) { return &at(i)->c1; }, x.c1);
  }
  PROOFMILL_LANES52_INLINE static TightLanes<1> One() { return {Part::One(), Zero<FqParams>()}; }
};

}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_CPU_COORDINATES_LANES_H_
