// Both directions use the same network of butterflies. Level k splits the vector into 2^k blocks, and all
// butterflies of block b share one factor c: a polynomial modulo X^2m - c^2 = (X^m - c)(X^m + c) is reduced
// by taking (x, y) to (x + c*y, x - c*y).
//   inverse: levels 0, 1, 2, ... with the inverse factors; natural order in, bit-reversed out;
//   forward: the transposed network, last level first, (x, y) to (x + y, c*(x - y)); the other way round.
//
// A block is worked on depth first and several levels at a time, so that it stays in cache from the level on
// where it fits. The columns of larger blocks are spread over threads, smaller ones are a task each.

#include "kernels/cpu/ntt.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/parallel.h"
#include "kernels/field/arithmetic.h"

namespace proofmill::kernels {

enum class NttDomain::Transform { kInverse, kForward, kToCoset };

namespace {

constexpr size_t kGrain = 1024;         // elements a chunk of an element-wise loop: 20 to 80 us of work
constexpr size_t kPassGrain = 8192;     // elements a chunk of a pass over columns: 30 to 150 us of work
constexpr uint32_t kTaskLog2Size = 12;  // a block of 2^12 elements (128 KiB, half a millisecond) is one task

// i read backwards in `bits` bits.
size_t ReverseBits(size_t i, uint32_t bits) {
  size_t out = 0;
  for (uint32_t k = 0; k < bits; ++k) out |= ((i >> k) & 1) << (bits - 1 - k);
  return out;
}

// out[b] = scale * base^ReverseBits(b, bits) for b < 2^bits.
std::vector<Fr> PowersInBitReversedOrder(const Fr& base, uint32_t bits, const Fr& scale) {
  std::vector<Fr> base_squares(bits);  // base^(2^i)
  for (uint32_t i = 0; i < bits; ++i) base_squares[i] = i == 0 ? base : base_squares[i - 1].Square();
  std::vector<Fr> out(size_t{1} << bits);
  out[0] = scale;
  for (uint32_t k = 0; k < bits; ++k) {
    const size_t half = size_t{1} << k;
    const Fr factor = base_squares[bits - 1 - k];
    ParallelFor(0, half, kGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) out[half + i] = out[i] * factor;
    });
  }
  return out;
}

// Moves every element to its bit-reversed place.
void ReverseOrder(Fr* values, uint32_t log2_n) {
  ParallelFor(0, size_t{1} << log2_n, kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t j = ReverseBits(i, log2_n);
      if (i < j) std::swap(values[i], values[j]);  // by the chunk of the smaller index alone
    }
  });
}

const NttKernels& ChooseKernels([[maybe_unused]] uint32_t log2_n) {
#if defined(__x86_64__)
  const Arithmetic arithmetic = CurrentArithmetic();
  if (arithmetic == Arithmetic::kIfma && log2_n >= kIfmaNttKernels.leaf_log2) return kIfmaNttKernels;
  if (arithmetic == Arithmetic::kFma && log2_n >= kFmaNttKernels.leaf_log2) return kFmaNttKernels;
#endif
  return kScalarNttKernels;
}

// Half of the bits of a place, and so many that a leaf lies in one row.
uint32_t LowBits(uint32_t log2_n, const NttKernels& kernels) {
  return std::min(log2_n, std::max(log2_n / 2, kernels.leaf_log2));
}

Fr InverseOfSize(uint32_t log2_n) { return Fr::FromUint64(uint64_t{1} << log2_n).Inverse(); }

}  // namespace

Fr CosetShift(uint32_t log2_n) {
  return log2_n < kFrTwoAdicity ? FrRootOfUnity(log2_n + 1) : Fr::FromUint64(25);
}

// Inverse passes come before the blocks inside, forward passes after them, a leaf does what is between.
struct NttDomain::Walk {
  Transform transform;
  const NttKernels& kernels;
  NttFactors factors;
  NttCoset coset;
  uint32_t domain_log2;

  void Leaf(const NttBlock& b) const {
    switch (transform) {
      case Transform::kInverse:
        return kernels.inverse_leaf(factors, b);
      case Transform::kForward:
        return kernels.forward_leaf(factors, b, b.log2_size == domain_log2);
      case Transform::kToCoset:
        return kernels.coset_leaf(factors, coset, b, b.log2_size == domain_log2);
    }
  }

  // All levels of a block.
  void Block(const NttBlock& b) const {
    if (b.log2_size <= kernels.leaf_log2) return Leaf(b);
    const uint32_t levels_above_leaf = b.log2_size - kernels.leaf_log2;
    const uint32_t passes = (levels_above_leaf + kernels.pass_levels_max - 1) / kernels.pass_levels_max;
    const uint32_t levels = (levels_above_leaf + passes - 1) / passes;
    const bool one_task = b.log2_size <= kTaskLog2Size;
    const auto for_columns = [&](const auto& pass) {
      const size_t columns = size_t{1} << (b.log2_size - levels);
      if (one_task) return pass(0, columns);
      ParallelFor(0, columns, kPassGrain >> levels, pass);
    };
    if (transform != Transform::kForward) {
      for_columns([&](size_t begin, size_t end) { kernels.inverse_pass(factors, b, levels, begin, end); });
    }
    const auto blocks_inside = [&](size_t begin, size_t end) {
      const uint32_t log2_size = b.log2_size - levels;
      for (size_t i = begin; i < end; ++i) {
        Block({b.values + (i << log2_size), log2_size, (b.block << levels) + i});
      }
    };
    if (one_task) {
      blocks_inside(0, size_t{1} << levels);
    } else {
      ParallelFor(0, size_t{1} << levels, 1, blocks_inside);
    }
    if (transform != Transform::kInverse) {
      const bool last = b.log2_size == domain_log2;
      for_columns(
          [&](size_t begin, size_t end) { kernels.forward_pass(factors, b, levels, last, begin, end); });
    }
  }
};

// A place is read as (high, low); read backwards, the low part is the high one.
NttDomain::NttDomain(uint32_t log2_n)
    : log2_n_(log2_n),
      kernels_(ChooseKernels(log2_n)),
      low_bits_(LowBits(log2_n, kernels_)),
      minus_one_(-Fr::FromUint64(kernels_.factor_scale)),
      twiddles_(PowersInBitReversedOrder(FrRootOfUnity(log2_n), log2_n == 0 ? 0 : log2_n - 1, -minus_one_)),
      coset_high_(PowersInBitReversedOrder(CosetShift(log2_n), log2_n - low_bits_,
                                           -minus_one_ * InverseOfSize(log2_n))) {
  Fr low_base = CosetShift(log2_n);
  for (uint32_t i = low_bits_; i < log2_n; ++i) low_base = low_base.Square();
  coset_low_ = PowersInBitReversedOrder(low_base, low_bits_, -minus_one_);
}

void NttDomain::Run(Transform transform, Fr* values) const {
  Walk{transform, kernels_, {twiddles_.data(), minus_one_}, coset(), log2_n_}.Block({values, log2_n_, 0});
}

void NttDomain::InverseToBitReversed(Fr* values) const { Run(Transform::kInverse, values); }

void NttDomain::ForwardFromBitReversed(Fr* values) const { Run(Transform::kForward, values); }

void NttDomain::ValuesToCoset(Fr* values) const { Run(Transform::kToCoset, values); }

void NttDomain::ScaleToCosetFromBitReversed(Fr* values) const {
  ParallelFor(0, size(), kGrain,
              [&](size_t begin, size_t end) { kernels_.scale(coset(), begin, end - begin, values + begin); });
}

void NttDomain::Forward(Fr* values) const {
  ReverseOrder(values, log2_n_);
  ForwardFromBitReversed(values);
}

void NttDomain::Inverse(Fr* values) const {
  InverseToBitReversed(values);
  ReverseOrder(values, log2_n_);
  const Fr factor = InverseOfSize(log2_n_);
  ParallelFor(0, size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) values[i] *= factor;
  });
}

}  // namespace proofmill::kernels
