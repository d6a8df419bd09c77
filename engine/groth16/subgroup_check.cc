#include "engine/groth16/subgroup_check.h"

#include <algorithm>
#include <vector>

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

// Below the smallest prime factor of the twist's order over r, 10069.
constexpr uint32_t kCoefficientBitsMin = 13;

// The digits a coefficient for which `n` points cost the fewest additions: one for each digit of each point,
// and some two for each bucket.
uint32_t ChooseWindows(size_t n) {
  const auto bits = [](uint32_t windows) { return (kCoefficientBitsMin + windows - 1) / windows; };
  const auto cost = [&](uint32_t windows) { return windows * (n + (size_t{2} << (bits(windows) - 1))); };
  uint32_t best = 1;
  for (uint32_t windows = 2; windows <= 4; ++windows) {
    if (cost(windows) < cost(best)) best = windows;
  }
  return best;
}

}  // namespace

RandomCombinations::RandomCombinations(size_t n)
    : windows_(ChooseWindows(n)),
      window_bits_((kCoefficientBitsMin + windows_ - 1) / windows_),
      scalars_(n) {}

absl::StatusOr<RandomCombinations> RandomCombinations::Draw(size_t n) {
  RandomCombinations out(n);
  PROOFMILL_RETURN_IF_ERROR(FillRandom(out.scalars_.data(), out.scalars_.size_bytes()));
  for (kernels::Uint128& s : out.scalars_) s >>= 128 - out.scalar_bits();
  return out;
}

template <typename F>
HostBuffer<U256> RandomCombinations::Scalars(const kernels::Affine<F>* points, size_t begin,
                                             size_t end) const {
  HostBuffer<U256> out(end - begin);
  for (size_t i = begin; i < end; ++i) {
    const kernels::Uint128 s = points[i].IsInfinity() ? 0 : scalars_[i];
    out[i - begin] = U256{{static_cast<uint64_t>(s), static_cast<uint64_t>(s >> 64), 0, 0}};
  }
  return out;
}

RandomCombinations::Sums RandomCombinations::Combine(const G2Affine* points, size_t begin, size_t end) const {
  const HostBuffer<U256> scalars = Scalars(points, begin, end);
  const std::vector<G2Xyzz> windows =
      kernels::MsmWindowSums(points + begin, scalars.data(), end - begin, window_bits_, scalar_bits());
  Sums sums;
  for (size_t j = 0; j < kCombinations; ++j) {
    sums[j] = windows[j * windows_ + windows_ - 1];
    for (size_t w = windows_ - 1; w-- > 0;) {
      for (uint32_t i = 0; i < window_bits_; ++i) sums[j] = sums[j].Double();
      sums[j] += windows[j * windows_ + w];
    }
  }
  return sums;
}

G2Xyzz RandomCombinations::Join(const Sums& sums) const {
  G2Xyzz out = G2Xyzz::Infinity();
  for (size_t j = kCombinations; j-- > 0;) {
    for (uint32_t i = 0; i < coefficient_bits(); ++i) out = out.Double();
    out += sums[j];
  }
  return out;
}

G1Xyzz RandomCombinations::CombineJoined(const G1Affine* points, size_t begin, size_t end) const {
  return kernels::Msm(points + begin, Scalars(points, begin, end).data(), nullptr, end - begin);
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
