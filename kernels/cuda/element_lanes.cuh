// How the lanes of a warp hold elements of the coordinate fields: one of Fq in a lane, one of Fq2 in two
// neighbouring lanes, the even one with c0 and the odd one with c1.
//
// A lane with a whole element of Fq2 needs 200 registers for an addition of points, so that two warps a
// scheduler are all that fit and wait for each other's products. With half an element it needs as many as for
// G1, four warps fit, and a product takes half as long: of (a0 + a1 u)(b0 + b1 u) a lane makes a0 b0 - a1 b1
// and the other a0 b1 + a1 b0, each a sum of two products that is reduced once.
//
// Device code only. Blocks are one-dimensional.

#ifndef PROOFMILL_KERNELS_CUDA_ELEMENT_LANES_CUH_
#define PROOFMILL_KERNELS_CUDA_ELEMENT_LANES_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cuda/wide.cuh"
#include "kernels/curve/weierstrass.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/montgomery_device.cuh"

namespace proofmill::kernels::device {

// One coefficient of an element of Fq2, Montgomery form. REQUIRES everywhere: both lanes of the pair call
// with halves of the same elements; other lanes need not.
class Fq2Half {
 public:
  Fq2Half() = default;
  explicit __device__ Fq2Half(const Fq& coefficient) : mine_(coefficient) {}

  static __device__ Fq2Half Zero() { return Fq2Half(Fq::Zero()); }
  static __device__ Fq2Half One() { return Fq2Half(HasC1() ? Fq::Zero() : Fq::One()); }

  __device__ bool IsZero() const { return AreZeroInBoth(ToWords(mine_.montgomery())); }
  friend __device__ bool operator==(const Fq2Half& a, const Fq2Half& b) {
    Words difference = ToWords(a.mine_.montgomery());
    const Words subtrahend = ToWords(b.mine_.montgomery());
#pragma unroll
    for (int i = 0; i < 8; ++i) difference.w[i] ^= subtrahend.w[i];
    return AreZeroInBoth(difference);
  }
  friend __device__ bool operator!=(const Fq2Half& a, const Fq2Half& b) { return !(a == b); }

  friend __device__ Fq2Half operator+(const Fq2Half& a, const Fq2Half& b) {
    return Fq2Half(a.mine_ + b.mine_);
  }
  friend __device__ Fq2Half operator-(const Fq2Half& a, const Fq2Half& b) {
    return Fq2Half(a.mine_ - b.mine_);
  }
  __device__ Fq2Half operator-() const { return Fq2Half(-mine_); }
  __device__ Fq2Half Double() const { return Fq2Half(mine_.Double()); }

  friend __device__ Fq2Half operator*(const Fq2Half& a, const Fq2Half& b) {
    const Factors x = FactorsOf(a);
    const Words y = ToWords(b.mine_.montgomery());
    return Fq2Half(Fq::FromMontgomery(DotMod<FqParams>(x.of_mine, y, x.of_other, Other(y))));
  }
  __device__ Fq2Half& operator*=(const Fq2Half& b) { return *this = *this * b; }
  static __device__ Fq2Half DifferenceOfProducts(const Fq2Half& a, const Fq2Half& b, const Fq2Half& c,
                                                 const Fq2Half& d) {
    return a * b - c * d;
  }

  // c0 = (a0 + a1)(a0 - a1), c1 = 2 a1 a0, the factors below 2p and not reduced.
  __device__ Fq2Half Square() const {
    const Words mine = ToWords(mine_.montgomery());
    const Words other = Other(mine);
    uint32_t unused;
    const Words difference = AddWords(mine, SubWords(Modulus<FqParams>(), other, unused));
    const Words x = AddWords(mine, Select(HasC1(), mine, other));
    return Fq2Half(Fq::FromMontgomery(MulWords<FqParams>(x, Select(HasC1(), other, difference))));
  }

  // 1 / this; 0 gives 0. Both lanes invert the norm.
  __device__ Fq2Half Inverse() const {
    const Words mine = ToWords(mine_.montgomery());
    const Words other = Other(mine);
    const Fq norm = Fq::FromMontgomery(DotMod<FqParams>(mine, mine, other, other));
    const Fq quotient = mine_ * norm.Inverse();
    return Fq2Half(HasC1() ? -quotient : quotient);
  }

 private:
  // What a product multiplies the other factor's coefficients with.
  struct Factors {
    Words of_mine;   // a0
    Words of_other;  // -a1 in the lane of c0, a1 in the lane of c1; at most p
  };
  static __device__ Factors FactorsOf(const Fq2Half& a) {
    const Words mine = ToWords(a.mine_.montgomery());
    const Words other = Other(mine);
    uint32_t unused;
    const Words negative = SubWords(Modulus<FqParams>(), other, unused);
    return {Select(HasC1(), other, mine), Select(HasC1(), mine, negative)};
  }

  static __device__ bool HasC1() { return (threadIdx.x & 1) != 0; }
  static __device__ uint32_t PairMask() { return 3u << (threadIdx.x & 30); }
  // By a shuffle: a vote among lanes with different masks is taken one mask after the other.
  static __device__ bool AreZeroInBoth(const Words& mine) {
    uint32_t bits = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) bits |= mine.w[i];
    return (bits | __shfl_xor_sync(PairMask(), bits, 1)) == 0;
  }
  static __device__ Words Other(const Words& mine) {
    Words other;
#pragma unroll
    for (int i = 0; i < 8; ++i) other.w[i] = __shfl_xor_sync(PairMask(), mine.w[i], 1);
    return other;
  }
  static __device__ Words Select(bool first, const Words& a, const Words& b) {
    Words out;
#pragma unroll
    for (int i = 0; i < 8; ++i) out.w[i] = first ? a.w[i] : b.w[i];
    return out;
  }

  Fq mine_;
};
static_assert(sizeof(Fq2Half) == sizeof(Fq));

// A team is the lanes that hold an element together.
template <typename F>
struct Team;
template <>
struct Team<Fq> {
  using Element = Fq;
  static constexpr uint32_t kLanes = 1;
};
template <>
struct Team<Fq2> {
  using Element = Fq2Half;
  static constexpr uint32_t kLanes = 2;
};
template <typename F>
using ElementOf = typename Team<F>::Element;
template <typename F>
inline constexpr uint32_t kTeamLanes = Team<F>::kLanes;

// This lane's place in its team.
template <typename F>
__device__ __forceinline__ uint32_t LaneOfTeam() {
  return threadIdx.x % kTeamLanes<F>;
}

// A point in memory, each lane its part of every coordinate. `place` must be aligned to 16 bytes.
template <template <typename> class Point, typename F>
__device__ __forceinline__ Point<ElementOf<F>> LoadPoint(const Point<F>* place) {
  constexpr size_t kCoordinates = sizeof(Point<F>) / sizeof(F);
  const Fq* const first = reinterpret_cast<const Fq*>(place) + LaneOfTeam<F>();
  Fq parts[kCoordinates];
#pragma unroll
  for (size_t i = 0; i < kCoordinates; ++i) parts[i] = LoadWide(first + i * kTeamLanes<F>);
  Point<ElementOf<F>> out;
  memcpy(&out, parts, sizeof(out));
  return out;
}
template <template <typename> class Point, typename F>
__device__ __forceinline__ void StorePoint(Point<F>* place, const Point<ElementOf<F>>& point) {
  constexpr size_t kCoordinates = sizeof(Point<F>) / sizeof(F);
  Fq parts[kCoordinates];
  memcpy(parts, &point, sizeof(point));
  Fq* const first = reinterpret_cast<Fq*>(place) + LaneOfTeam<F>();
#pragma unroll
  for (size_t i = 0; i < kCoordinates; ++i) StoreWide(first + i * kTeamLanes<F>, parts[i]);
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_ELEMENT_LANES_CUH_
