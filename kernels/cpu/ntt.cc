// Both directions use the same network of butterflies. Level k splits the vector into 2^k blocks, and all
// butterflies of block b share one factor c: a polynomial modulo X^2m - c^2 = (X^m - c)(X^m + c) is reduced
// by taking (x, y) to (x + c*y, x - c*y).
//   inverse: levels 0, 1, 2, ... with the inverse factors; natural order in, bit-reversed out;
//   forward: the transposed network, last level first, (x, y) to (x + y, c*(x - y)); the other way round.
//
// A block is worked on depth first and two levels at a time, so that it stays in cache from the level on
// where it fits. Larger blocks are spread over threads by columns, smaller ones are a task each.

#include "kernels/cpu/ntt.h"

#include <bit>
#include <utility>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kGrain = 1024;         // elements a chunk of an element-wise loop: 20 to 80 us of work
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

// One direction of the transform: its factors, two levels of butterflies, and the order of steps and
// quarters.
struct InverseNetwork {
  const Fr* twiddles;

  // 1 / twiddles[block]. The bits of `block` below the highest, inverted, give the twiddle of the exponent
  // 2^(k-1) - e for the exponent e of `block` (k bits), and w_{2^k}^(2^(k-1)) = -1.
  Fr Factor(size_t block) const {
    return block == 0 ? Fr::One() : -twiddles[block ^ (std::bit_floor(block) - 1)];
  }
  static void Butterfly(Fr& x, Fr& y, const Fr& c) {
    const Fr t = y * c;
    y = x - t;
    x += t;
  }
  // Columns [begin, end) of the quarters of a block: level k with factor c, then level k + 1.
  static void TwoLevels(Fr* v, size_t quarter, size_t begin, size_t end, const Fr& c, const Fr& c0,
                        const Fr& c1) {
    for (size_t i = begin; i < end; ++i) {
      Fr x0 = v[i], x1 = v[i + quarter], x2 = v[i + 2 * quarter], x3 = v[i + 3 * quarter];
      Butterfly(x0, x2, c);
      Butterfly(x1, x3, c);
      Butterfly(x0, x1, c0);
      Butterfly(x2, x3, c1);
      v[i] = x0, v[i + quarter] = x1, v[i + 2 * quarter] = x2, v[i + 3 * quarter] = x3;
    }
  }
  template <typename Step, typename Quarters>
  static void InOrder(const Step& step, const Quarters& quarters) {
    step();
    quarters();
  }
};

struct ForwardNetwork {
  const Fr* twiddles;

  Fr Factor(size_t block) const { return twiddles[block]; }
  static void Butterfly(Fr& x, Fr& y, const Fr& c) {
    const Fr t = x - y;
    x += y;
    y = t * c;
  }
  // The same, level k + 1 first.
  static void TwoLevels(Fr* v, size_t quarter, size_t begin, size_t end, const Fr& c, const Fr& c0,
                        const Fr& c1) {
    for (size_t i = begin; i < end; ++i) {
      Fr x0 = v[i], x1 = v[i + quarter], x2 = v[i + 2 * quarter], x3 = v[i + 3 * quarter];
      Butterfly(x0, x1, c0);
      Butterfly(x2, x3, c1);
      Butterfly(x0, x2, c);
      Butterfly(x1, x3, c);
      v[i] = x0, v[i + quarter] = x1, v[i + 2 * quarter] = x2, v[i + 3 * quarter] = x3;
    }
  }
  template <typename Step, typename Quarters>
  static void InOrder(const Step& step, const Quarters& quarters) {
    quarters();
    step();
  }
};

// All levels of the 2^log2_size elements of block number `block` of its level.
template <typename Network>
void TransformBlock(const Network& network, Fr* v, uint32_t log2_size, size_t block) {
  if (log2_size == 0) return;
  const Fr c = network.Factor(block);
  if (log2_size == 1) return Network::Butterfly(v[0], v[1], c);
  const size_t quarter = size_t{1} << (log2_size - 2);
  const Fr c0 = network.Factor(2 * block), c1 = network.Factor(2 * block + 1);
  const bool one_task = log2_size <= kTaskLog2Size;
  const auto step = [&] {
    if (one_task) return Network::TwoLevels(v, quarter, 0, quarter, c, c0, c1);
    ParallelFor(0, quarter, kGrain,
                [&](size_t begin, size_t end) { Network::TwoLevels(v, quarter, begin, end, c, c0, c1); });
  };
  const auto transform_quarters = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      TransformBlock(network, v + i * quarter, log2_size - 2, 4 * block + i);
    }
  };
  const auto quarters = [&] {
    if (one_task) return transform_quarters(0, 4);
    ParallelFor(0, 4, 1, transform_quarters);
  };
  Network::InOrder(step, quarters);
}

Fr InverseOfSize(uint32_t log2_n) { return Fr::FromUint64(uint64_t{1} << log2_n).Inverse(); }

}  // namespace

Fr CosetShift(uint32_t log2_n) {
  return log2_n < kFrTwoAdicity ? FrRootOfUnity(log2_n + 1) : Fr::FromUint64(25);
}

// A place is read as (high, low), low having half of the bits; read backwards, the low part is the high one.
NttDomain::NttDomain(uint32_t log2_n)
    : log2_n_(log2_n),
      low_bits_(log2_n / 2),
      twiddles_(PowersInBitReversedOrder(FrRootOfUnity(log2_n), log2_n == 0 ? 0 : log2_n - 1, Fr::One())),
      coset_high_(PowersInBitReversedOrder(CosetShift(log2_n), log2_n - low_bits_, InverseOfSize(log2_n))) {
  Fr low_base = CosetShift(log2_n);
  for (uint32_t i = low_bits_; i < log2_n; ++i) low_base = low_base.Square();
  coset_low_ = PowersInBitReversedOrder(low_base, low_bits_, Fr::One());
}

void NttDomain::InverseToBitReversed(Fr* values) const {
  TransformBlock(InverseNetwork{twiddles_.data()}, values, log2_n_, 0);
}

void NttDomain::ForwardFromBitReversed(Fr* values) const {
  TransformBlock(ForwardNetwork{twiddles_.data()}, values, log2_n_, 0);
}

void NttDomain::ScaleToCosetFromBitReversed(Fr* values) const {
  const size_t row = size_t{1} << low_bits_;
  const size_t rows_per_chunk = row < kGrain ? kGrain / row : 1;
  ParallelFor(0, coset_high_.size(), rows_per_chunk, [&](size_t begin, size_t end) {
    for (size_t high = begin; high < end; ++high) {
      for (size_t low = 0; low < row; ++low) values[high * row + low] *= coset_high_[high] * coset_low_[low];
    }
  });
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
