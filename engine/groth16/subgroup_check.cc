#include "engine/groth16/subgroup_check.h"

#include <algorithm>

#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/msm.h"
#include "kernels/curve/pairing.h"

namespace proofmill::engine {
namespace {

using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;
using kernels::U256;

// Below this a range is searched point by point.
constexpr size_t kExactSearchMax = 64;

}  // namespace

absl::StatusOr<RandomCombinations> RandomCombinations::Draw(size_t n) {
  RandomCombinations out(n);
  PROOFMILL_RETURN_IF_ERROR(FillRandom(out.coefficients_.data(), out.coefficients_.size_bytes()));
  for (Coefficients& of_point : out.coefficients_) {
    for (uint16_t& c : of_point) c = static_cast<uint16_t>(c & ((1u << kCoefficientBits) - 1));
  }
  return out;
}

RandomCombinations::Sums RandomCombinations::Combine(const G2Affine* points, size_t begin, size_t end) const {
  HostBuffer<U256> scalars(end - begin);
  Sums sums;
  for (size_t j = 0; j < kCombinations; ++j) {
    for (size_t i = begin; i < end; ++i) scalars[i - begin] = U256{{coefficients_[i][j], 0, 0, 0}};
    sums[j] = kernels::Msm(points + begin, scalars.data(), nullptr, end - begin);
  }
  return sums;
}

G2Xyzz RandomCombinations::Join(const Sums& sums) {
  G2Xyzz out = G2Xyzz::Infinity();
  for (size_t j = kCombinations; j-- > 0;) {
    for (uint32_t i = 0; i < kCoefficientBits; ++i) out = out.Double();
    out += sums[j];
  }
  return out;
}

G1Xyzz RandomCombinations::CombineJoined(const G1Affine* points, size_t begin, size_t end) const {
  HostBuffer<U256> scalars(end - begin);
  for (size_t i = begin; i < end; ++i) {
    kernels::Uint128 joined = 0;
    for (size_t j = kCombinations; j-- > 0;) joined = (joined << kCoefficientBits) | coefficients_[i][j];
    scalars[i - begin] = U256{{static_cast<uint64_t>(joined), static_cast<uint64_t>(joined >> 64), 0, 0}};
  }
  return kernels::Msm(points + begin, scalars.data(), nullptr, end - begin);
}

bool AllInG2Subgroup(const RandomCombinations::Sums& sums) {
  return std::all_of(sums.begin(), sums.end(),
                     [](const G2Xyzz& sum) { return kernels::IsInG2Subgroup(sum.ToAffine()); });
}

size_t FirstOutsideG2Subgroup(const RandomCombinations& combinations, const G2Affine* points, size_t n) {
  size_t begin = 0;
  size_t end = n;
  while (end - begin > kExactSearchMax) {
    const size_t middle = begin + (end - begin) / 2;
    if (AllInG2Subgroup(combinations.Combine(points, begin, middle))) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  for (size_t i = begin; i < end; ++i) {
    if (!kernels::IsInG2Subgroup(points[i])) return i;
  }
  return begin;  // only if a combination missed a point on the way
}

}  // namespace proofmill::engine
