// A point in XYZZ coordinates in the lanes of a warp: X, Y, ZZ and ZZZ in four neighbouring teams, each of
// the lanes that hold an element (element_lanes.cuh).
//
// One warp alone needs 0.26 us for a product on an H200, whether one of its lanes works or all do, so that a
// sum of points in one team takes 14 times that. Four teams take its products in four rounds, with about as
// much work in all. That is for sums that wait for each other: trees and chains.
//
// Device code only. Blocks are one-dimensional, and all lanes of a warp must call.

#ifndef PROOFMILL_KERNELS_CUDA_POINT_LANES_CUH_
#define PROOFMILL_KERNELS_CUDA_POINT_LANES_CUH_

#include <cstdint>
#include <cstring>

#include "kernels/cuda/element_lanes.cuh"
#include "kernels/cuda/wide.cuh"
#include "kernels/curve/weierstrass.h"

namespace proofmill::kernels::device {

constexpr uint32_t kAllLanes = 0xffffffff;

template <typename F>
inline constexpr uint32_t kPointLanes = 4 * kTeamLanes<F>;
// Points of a warp, and the place of this lane's among them.
template <typename F>
inline constexpr uint32_t kWarpPoints = 32 / kPointLanes<F>;
template <typename F>
__device__ __forceinline__ uint32_t PointOfWarp() {
  return threadIdx.x % 32 / kPointLanes<F>;
}

// The element of lane `lane`.
template <typename E>
__device__ __forceinline__ E FromLane(const E& element, uint32_t lane) {
  constexpr size_t kWords = sizeof(E) / sizeof(uint32_t);
  uint32_t words[kWords];
  memcpy(words, &element, sizeof(E));
#pragma unroll
  for (size_t i = 0; i < kWords; ++i) words[i] = __shfl_sync(kAllLanes, words[i], static_cast<int>(lane));
  E out;
  memcpy(&out, words, sizeof(E));
  return out;
}

// a where `first`, else b, word by word: a choice between places would keep both in memory.
template <typename E>
__device__ __forceinline__ E Choose(bool first, const E& a, const E& b) {
  constexpr size_t kWords = sizeof(E) / sizeof(uint32_t);
  uint32_t x[kWords], y[kWords];
  memcpy(x, &a, sizeof(E));
  memcpy(y, &b, sizeof(E));
#pragma unroll
  for (size_t i = 0; i < kWords; ++i) x[i] = first ? x[i] : y[i];
  E out;
  memcpy(&out, x, sizeof(E));
  return out;
}

// This lane's part of a point.
template <typename F>
class SplitPoint {
 public:
  static __device__ SplitPoint Infinity() { return SplitPoint(E::Zero()); }
  static __device__ SplitPoint Load(const Xyzz<F>* place) { return SplitPoint(LoadWide(Part(place))); }
  // Infinity where not `present`.
  static __device__ SplitPoint LoadIf(bool present, const Xyzz<F>* place) {
    uint4 pieces[sizeof(E) / sizeof(uint4)] = {};
    if (present) {
#pragma unroll
      for (size_t i = 0; i < sizeof(E) / sizeof(uint4); ++i)
        pieces[i] = reinterpret_cast<const uint4*>(Part(place))[i];
    }
    return SplitPoint(LoadPieces<E>(pieces, 1));
  }
  __device__ void Store(Xyzz<F>* place) const { StoreWide(const_cast<E*>(Part(place)), coordinate_); }

  // The point that lies so many lanes further, modulo the warp.
  __device__ SplitPoint FromLanesOn(uint32_t lanes) const {
    return SplitPoint(FromLane(coordinate_, (threadIdx.x + lanes) % 32));
  }
  static __device__ SplitPoint Select(bool first, const SplitPoint& a, const SplitPoint& b) {
    return SplitPoint(Choose(first, a.coordinate_, b.coordinate_));
  }

  // add-2008-s: 12M + 2S. Complete, like the sum in weierstrass.h.
  friend __device__ SplitPoint operator+(const SplitPoint& p, const SplitPoint& q) {
    const E& a = p.coordinate_;
    const E& b = q.coordinate_;
    const uint32_t team = TeamOfPoint();
    // U1 = X1 ZZ2, S1 = Y1 ZZZ2, U2 = ZZ1 X2, S2 = ZZZ1 Y2.
    const E cross = a * FromTeam(b, team ^ 2);
    // P = U2 - U1 in team 0, R = S2 - S1 in team 1.
    const E difference = FromTeam(cross, team ^ 2) - cross;
    // P^2, R^2, ZZ1 ZZ2, ZZZ1 ZZZ2.
    const E square = Choose(team < 2, difference, a) * Choose(team < 2, difference, b);
    const E pp = FromTeam(square, 0);
    // S1 in team 0, U1 in team 1.
    const E neighbour = FromTeam(cross, team ^ 1);
    // P^3, Q = U1 P^2, ZZ3 = ZZ1 ZZ2 P^2 in teams 0 to 2.
    const E cube = Choose(team == 0, difference, Choose(team == 1, neighbour, square)) * pp;
    const E ppp = FromTeam(cube, 0);
    // In team 1: X3 = R^2 - P^3 - 2Q.
    const E x = square - ppp - cube.Double();
    // S1 P^3, R (Q - X3), -, ZZZ3 = ZZZ1 ZZZ2 P^3.
    const E last = Choose(team == 0, neighbour, Choose(team == 1, difference, square)) *
                   Choose(team == 1, cube - x, ppp);
    // X3 in team 0, S1 P^3 in team 1.
    const E other = FromTeam(Choose(team == 1, x, last), team ^ 1);
    const E sum = Choose(team == 0, other, Choose(team == 1, last - other, Choose(team == 2, cube, last)));

    const uint32_t zeros = (difference.IsZero() ? 1 : 0) | (a.IsZero() ? 2 : 0) | (b.IsZero() ? 4 : 0);
    const uint32_t zeros_of_zz = OfTeam(zeros, 2);
    const bool p_is_infinity = (zeros_of_zz & 2) != 0;
    const bool q_is_infinity = (zeros_of_zz & 4) != 0;
    const bool are_equal = (OfTeam(zeros, 0) & OfTeam(zeros, 1) & 1) != 0 && !p_is_infinity && !q_is_infinity;
    SplitPoint out(Choose(p_is_infinity, b, Choose(q_is_infinity, a, sum)));
    if (__any_sync(kAllLanes, are_equal)) out = Select(are_equal, p.Double(), out);
    return out;
  }
  __device__ SplitPoint& operator+=(const SplitPoint& q) { return *this = *this + q; }

  // dbl-2008-s-1 with a = 0: 6M + 3S.
  __device__ SplitPoint Double() const {
    const E& a = coordinate_;
    const uint32_t team = TeamOfPoint();
    // X, and U = 2Y in team 1.
    const E x_or_u = Choose(team == 1, a.Double(), a);
    const E square = x_or_u.Square();
    const E v = FromTeam(square, 1);
    const E x_squared = FromTeam(square, 0);
    const E m = x_squared.Double() + x_squared;
    // S = X V, W = U V, ZZ3 = V ZZ, M^2.
    const E product = Choose(team == 3, m, x_or_u) * Choose(team == 3, m, v);
    const E s = FromTeam(product, 0);
    const E w = FromTeam(product, 1);
    const E x = FromTeam(product, 3) - s.Double();
    // M (S - X3), W Y, -, ZZZ3 = W ZZZ.
    const E last = Choose(team == 0, m, a) * Choose(team == 0, s - x, w);
    const E other = FromTeam(last, team ^ 1);
    return SplitPoint(
        Choose(team == 0, x, Choose(team == 1, other - last, Choose(team == 2, product, last))));
  }

 private:
  using E = ElementOf<F>;
  explicit __device__ SplitPoint(const E& coordinate) : coordinate_(coordinate) {}

  static __device__ uint32_t TeamOfPoint() { return threadIdx.x % kPointLanes<F> / kTeamLanes<F>; }
  // The lane of this point's team `team` that holds the same part as this one.
  static __device__ uint32_t LaneOf(uint32_t team) {
    return threadIdx.x % 32 / kPointLanes<F> * kPointLanes<F> + team * kTeamLanes<F> + LaneOfTeam<F>();
  }
  static __device__ E FromTeam(const E& element, uint32_t team) { return FromLane(element, LaneOf(team)); }
  static __device__ uint32_t OfTeam(uint32_t word, uint32_t team) {
    return __shfl_sync(kAllLanes, word, static_cast<int>(LaneOf(team)));
  }
  static __device__ const E* Part(const Xyzz<F>* place) {
    return reinterpret_cast<const E*>(place) + threadIdx.x % kPointLanes<F>;
  }

  E coordinate_;
};

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_POINT_LANES_CUH_
