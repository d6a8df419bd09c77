// Random combinations of a vector of points, for checks that would cost too much point by point: that all of
// a vector is in the subgroup of order r, and that two vectors hold the same scalars.
//
// Point i gets one random number s_i from the kernel's CSPRNG. Cut into signed digits it gives the
// coefficients c_ij of S_j = sum_i c_ij * P_i, j < kCombinations, which one multi-scalar multiplication forms
// together: digits are what it sorts points by. A coefficient is one digit of 13 bits where there are many
// points, and several smaller ones where the buckets for 13 bits would cost more than the points; b bits in
// all. Whatever the digits below it are, c_ij then takes 2^b successive values with the same probability; in
// the last combination, which leaves room for the carry, 2^(b-1) values.
//
// Subgroup. The order of the twist is r * h with h = 2q - r, whose smallest prime factor is 10069. If some
// P_i has a component T outside the subgroup, a prime p >= 10069 divides the order of T. Fix all other
// coefficients: S_j is in the subgroup for at most one residue of c_ij mod p, which at most ceil(2^b / p) of
// the 2^b values have: that is a probability of at most 2^-13 for b = 13 to 16, and of 2^-12 in the last
// combination. All six miss the point with probability at most 2^-77. (Wider coefficients would not help
// much: with T of order 10069 one combination misses with probability 1/10069 whatever the width. Another
// combination helps more and costs less.)
//
// Same scalars. The joined combination sum_j 2^(bj) * S_j is sum_i s_i * P_i, s_i uniform below 2^(6b-1). Two
// vectors over groups of order r whose scalars differ somewhere give joined sums of the same scalar with
// probability at most 2^-77.
//
// Thread safety: immutable once made; each call uses all threads of the current arena.

#ifndef PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_
#define PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/base/host_buffer.h"
#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

class RandomCombinations {
 public:
  static constexpr uint32_t kCombinations = 6;
  using Sums = std::array<kernels::G2Xyzz, kCombinations>;

  // Draws coefficients for vectors of `n` points.
  //   INTERNAL  the kernel gave no randomness.
  static absl::StatusOr<RandomCombinations> Draw(size_t n);

  // S_0 .. S_5 of points[begin, end), each point with the coefficients of its place. REQUIRES: begin <= end
  // <= n, the points are on the twist. Needs 32 bytes a point while it runs.
  Sums Combine(const kernels::G2Affine* points, size_t begin, size_t end) const;

  // The joined combination of the same points, from their sums or directly. Same requirements.
  kernels::G2Xyzz Join(const Sums& sums) const;
  kernels::G1Xyzz CombineJoined(const kernels::G1Affine* points, size_t begin, size_t end) const;

 private:
  explicit RandomCombinations(size_t n);
  uint32_t coefficient_bits() const { return window_bits_ * windows_; }
  uint32_t scalar_bits() const { return kCombinations * coefficient_bits() - 1; }
  // s_i of points[begin, end), 0 for points at infinity.
  template <typename F>
  HostBuffer<kernels::U256> Scalars(const kernels::Affine<F>* points, size_t begin, size_t end) const;

  uint32_t windows_;      // digits a coefficient
  uint32_t window_bits_;  // bits a digit
  HostBuffer<kernels::Uint128> scalars_;
};

// Whether each of the sums is in the subgroup, exactly.
bool AllInG2Subgroup(const RandomCombinations::Sums& sums);

// The first point outside the subgroup, found by halving ranges whose sums are outside. For error messages:
// takes about as long as the check itself. REQUIRES: the sums of points[0, n) are not all in the subgroup.
size_t FirstOutsideG2Subgroup(const RandomCombinations& combinations, const kernels::G2Affine* points,
                              size_t n);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_
