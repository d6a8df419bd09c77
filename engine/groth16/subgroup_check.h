// Random combinations of a vector of points, for checks that would cost too much point by point: that all of
// a vector is in the subgroup of order r, and that two vectors hold the same scalars.
//
// For j < kCombinations the sum S_j = sum_i c_ij * P_i is formed, with independent coefficients c_ij, uniform
// in [0, 2^13), from the kernel's CSPRNG.
//
// Subgroup. The order of the twist is r * h with h = 2q - r, whose smallest prime factor is 10069. If some
// P_i has a component T outside the subgroup, a prime p >= 10069 divides the order of T. Fix all other
// coefficients: S_j is in the subgroup for at most one residue of c_ij mod p, hence for at most one value of
// c_ij, since 2^13 < 10069. All six combinations miss the point with probability at most 2^-78. (Wider
// coefficients would not help much: with T of order 10069 one combination misses with probability 1/10069
// whatever the width. Another combination helps more and costs less.)
//
// Same scalars. The joined combination sum_j 2^(13j) * S_j has coefficients uniform in [0, 2^78). Two vectors
// over groups of order r whose scalars differ somewhere give joined sums of the same scalar with probability
// at most 2^-78.
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
  static constexpr size_t kCombinations = 6;
  static constexpr uint32_t kCoefficientBits = 13;
  static_assert((1u << kCoefficientBits) < 10069, "see above");
  using Sums = std::array<kernels::G2Xyzz, kCombinations>;

  // Draws coefficients for vectors of `n` points.
  //   INTERNAL  the kernel gave no randomness.
  static absl::StatusOr<RandomCombinations> Draw(size_t n);

  // S_0 .. S_5 of points[begin, end), each point with the coefficients of its place. REQUIRES: begin <= end
  // <= n, the points are on the twist. Needs 32 bytes a point while it runs.
  Sums Combine(const kernels::G2Affine* points, size_t begin, size_t end) const;

  // The joined combination of the same points, from their sums or directly. Same requirements.
  static kernels::G2Xyzz Join(const Sums& sums);
  kernels::G1Xyzz CombineJoined(const kernels::G1Affine* points, size_t begin, size_t end) const;

 private:
  using Coefficients = std::array<uint16_t, kCombinations>;
  explicit RandomCombinations(size_t n) : coefficients_(n) {}

  HostBuffer<Coefficients> coefficients_;
};

// Whether each of the sums is in the subgroup, exactly.
bool AllInG2Subgroup(const RandomCombinations::Sums& sums);

// The first point outside the subgroup, found by halving ranges whose sums are outside. For error messages:
// takes about as long as the check itself. REQUIRES: the sums of points[0, n) are not all in the subgroup.
size_t FirstOutsideG2Subgroup(const RandomCombinations& combinations, const kernels::G2Affine* points,
                              size_t n);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_
