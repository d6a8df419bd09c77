#include "engine/groth16/subgroup_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/pairing.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fq;
using kernels::Fq2;
using kernels::G2Affine;
using kernels::Xyzz;

// Points a task. Each task pays for one reduction of its buckets (at most 2^13 additions).
constexpr size_t kPointsPerTask = size_t{1} << 16;
// Below this a range is searched point by point.
constexpr size_t kExactSearchMax = 64;

// The window with the fewest additions: `windows` passes over n points, each with 2^w additions to sum up
// 2^(w-1) buckets.
uint32_t ChooseWindowBits(size_t n) {
  uint32_t best = 2;
  size_t best_cost = ~size_t{0};
  for (uint32_t w = 2; w <= RandomCombinations::kCoefficientBitsMin; ++w) {
    const size_t windows = (RandomCombinations::kCoefficientBitsMin + w - 1) / w;
    const size_t cost = windows * (n + (size_t{1} << w));
    if (cost < best_cost) {
      best = w;
      best_cost = cost;
    }
  }
  return best;
}

template <typename F>
Xyzz<F> DoubleTimes(Xyzz<F> point, uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) point = point.Double();
  return point;
}

// sum_b (b + 1) * buckets[b].
template <typename F>
Xyzz<F> WeightedSum(const std::vector<Xyzz<F>>& buckets) {
  Xyzz<F> running = Xyzz<F>::Infinity();
  Xyzz<F> total = Xyzz<F>::Infinity();
  for (size_t b = buckets.size(); b-- > 0;) {
    running += buckets[b];
    total += running;
  }
  return total;
}

}  // namespace

absl::StatusOr<RandomCombinations> RandomCombinations::Draw(size_t n) {
  const uint32_t window_bits = ChooseWindowBits(n);
  const uint32_t windows = (kCoefficientBitsMin + window_bits - 1) / window_bits;
  RandomCombinations out(n, window_bits, windows);
  PROOFMILL_RETURN_IF_ERROR(FillRandom(out.random_.data(), out.random_.size_bytes()));
  return out;
}

int32_t RandomCombinations::Digit(size_t lane, size_t i) const {
  const int32_t digits = int32_t{1} << window_bits_;
  return (int32_t{random_[lane * n_ + i]} & (digits - 1)) - digits / 2;
}

template <typename F>
Xyzz<F> RandomCombinations::CombineLane(const Affine<F>* points, size_t begin, size_t end,
                                        size_t lane) const {
  std::vector<Xyzz<F>> buckets(size_t{1} << (window_bits_ - 1), Xyzz<F>::Infinity());
  for (size_t i = begin; i < end; ++i) {
    const int32_t digit = Digit(lane, i);
    if (digit > 0) buckets[static_cast<size_t>(digit - 1)] += points[i];
    if (digit < 0) buckets[static_cast<size_t>(-digit - 1)] += -points[i];
  }
  return WeightedSum(buckets);
}

template <typename F>
RandomCombinations::Sums<F> RandomCombinations::Combine(const Affine<F>* points, size_t begin,
                                                        size_t end) const {
  const size_t chunks = std::max<size_t>(1, (end - begin + kPointsPerTask - 1) / kPointsPerTask);
  const size_t lanes = kCombinations * windows_;
  std::vector<Xyzz<F>> partial(lanes * chunks);  // of lane l and chunk k: at l * chunks + k
  kernels::ParallelFor(0, partial.size(), 1, [&](size_t task_begin, size_t task_end) {
    for (size_t task = task_begin; task < task_end; ++task) {
      const size_t chunk_begin = begin + (task % chunks) * kPointsPerTask;
      const size_t chunk_end = std::min(end, chunk_begin + kPointsPerTask);
      partial[task] = CombineLane(points, chunk_begin, chunk_end, task / chunks);
    }
  });
  Sums<F> sums;
  for (size_t j = 0; j < kCombinations; ++j) {
    sums[j] = Xyzz<F>::Infinity();
    for (size_t window = windows_; window-- > 0;) {
      sums[j] = DoubleTimes(sums[j], window_bits_);
      for (size_t k = 0; k < chunks; ++k) sums[j] += partial[(j * windows_ + window) * chunks + k];
    }
  }
  return sums;
}

template <typename F>
Xyzz<F> RandomCombinations::Join(const Sums<F>& sums) {
  Xyzz<F> out = Xyzz<F>::Infinity();
  for (size_t j = kCombinations; j-- > 0;) {
    out = DoubleTimes(out, kJoinShiftBits);
    out += sums[j];
  }
  return out;
}

template RandomCombinations::Sums<Fq> RandomCombinations::Combine(const Affine<Fq>*, size_t, size_t) const;
template RandomCombinations::Sums<Fq2> RandomCombinations::Combine(const Affine<Fq2>*, size_t, size_t) const;
template Xyzz<Fq> RandomCombinations::Join(const Sums<Fq>&);
template Xyzz<Fq2> RandomCombinations::Join(const Sums<Fq2>&);

bool AllInG2Subgroup(const RandomCombinations::Sums<Fq2>& sums) {
  return std::all_of(sums.begin(), sums.end(),
                     [](const Xyzz<Fq2>& sum) { return kernels::IsInG2Subgroup(sum.ToAffine()); });
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
  return begin;  // only if a combination missed a point: the range is right all the same
}

}  // namespace proofmill::engine
