// Random combinations of a vector of points, for checks that would cost too much point by point: that all of
// a vector is in the subgroup of order r, and that two vectors hold the same scalars.
//
// For j < kCombinations the sum S_j = sum_i c_ij * P_i is formed, with independent coefficients c_ij, uniform
// in a range of at least 2^13 consecutive integers (2^13 to 2^16, depending on the number of points).
//
// Subgroup. The order of the twist is r * h with h = 2q - r, whose smallest prime factor is 10069. If some
// P_i has a component T outside the subgroup, T has an order d that a prime p >= 10069 divides. Fix all other
// coefficients: S_j is in the subgroup for at most one residue of c_ij mod p, hence for a share of at most
// 2^-13 of its range (2^13 < 10069, so a range of 2^13 has each residue at most once; of 2^16, seven times).
// All kCombinations miss it with probability at most 2^-78. Coefficients wider than 16 bits would not help:
// one combination alone cannot do better than 1/10069.
//
// Same scalars. Join() forms sum_j 2^(16j) * S_j, one combination whose coefficients are uniform over at
// least 2^78 values that differ mod r. Two vectors over groups of order r whose scalars differ somewhere give
// sums with different scalars, but for a probability of at most 2^-78.
//
// Coefficients come from the kernel's CSPRNG. Thread safety: immutable once made; each call uses all threads
// of the current arena.

#ifndef PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_
#define PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "engine/base/host_buffer.h"
#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"

namespace proofmill::engine {

class RandomCombinations {
 public:
  static constexpr size_t kCombinations = 6;
  static constexpr uint32_t kCoefficientBitsMin = 13;
  static constexpr uint32_t kJoinShiftBits = 16;

  template <typename F>
  using Sums = std::array<kernels::Xyzz<F>, kCombinations>;

  // Draws coefficients for vectors of `n` points.
  //   INTERNAL  the kernel gave no randomness.
  static absl::StatusOr<RandomCombinations> Draw(size_t n);

  // S_0 .. of points[begin, end), each with the coefficients of its place. REQUIRES: begin <= end <= n, the
  // points are on their curve.
  template <typename F>
  Sums<F> Combine(const kernels::Affine<F>* points, size_t begin, size_t end) const;

  template <typename F>
  static kernels::Xyzz<F> Join(const Sums<F>& sums);

 private:
  RandomCombinations(size_t n, uint32_t window_bits, uint32_t windows)
      : n_(n), window_bits_(window_bits), windows_(windows), random_(n * kCombinations * windows) {}
  // The digit of place i in [-2^(w-1), 2^(w-1)), for lane = combination * windows + window.
  int32_t Digit(size_t lane, size_t i) const;
  template <typename F>
  kernels::Xyzz<F> CombineLane(const kernels::Affine<F>* points, size_t begin, size_t end, size_t lane) const;

  size_t n_;
  // A coefficient is sum_k digit_k * 2^(k * window_bits) over `windows` balanced digits.
  uint32_t window_bits_;
  uint32_t windows_;
  HostBuffer<uint16_t> random_;  // of lane l and place i: at l * n + i
};

extern template RandomCombinations::Sums<kernels::Fq> RandomCombinations::Combine(
    const kernels::Affine<kernels::Fq>*, size_t, size_t) const;
extern template RandomCombinations::Sums<kernels::Fq2> RandomCombinations::Combine(
    const kernels::Affine<kernels::Fq2>*, size_t, size_t) const;
extern template kernels::Xyzz<kernels::Fq> RandomCombinations::Join(const Sums<kernels::Fq>&);
extern template kernels::Xyzz<kernels::Fq2> RandomCombinations::Join(const Sums<kernels::Fq2>&);

// Whether each of the sums is in the subgroup, exactly.
bool AllInG2Subgroup(const RandomCombinations::Sums<kernels::Fq2>& sums);

// The first point outside the subgroup, found by halving ranges whose sums are outside. For error messages:
// takes about as long as the check itself. REQUIRES: the sums of points[0, n) are not all in the subgroup.
size_t FirstOutsideG2Subgroup(const RandomCombinations& combinations, const kernels::G2Affine* points,
                              size_t n);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SUBGROUP_CHECK_H_
