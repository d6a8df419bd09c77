// Transforms on one element at a time, two levels of butterflies in registers.

#include <bit>

#include "kernels/cpu/ntt_kernels.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kLeafLog2 = 6;

// One direction of the transform: its factors, two levels of butterflies, and the order of steps and
// quarters.
struct InverseNetwork {
  const NttFactors& factors;

  // 1 / twiddles[block]. The bits of `block` below the highest, inverted, give the twiddle of the exponent
  // 2^(k-1) - e for the exponent e of `block` (k bits), and w_{2^k}^(2^(k-1)) = -1.
  Fr Factor(size_t block) const {
    return block == 0 ? -factors.minus_one : -factors.twiddles[block ^ (std::bit_floor(block) - 1)];
  }
  static void Butterfly(Fr& x, Fr& y, const Fr& c) {
    const Fr t = y * c;
    y = x - t;
    x += t;
  }
  // A column of the quarters of a block: level k with factor c, then level k + 1.
  static void Column(Fr* v, size_t quarter, const Fr& c, const Fr& c0, const Fr& c1) {
    Fr x0 = v[0], x1 = v[quarter], x2 = v[2 * quarter], x3 = v[3 * quarter];
    Butterfly(x0, x2, c);
    Butterfly(x1, x3, c);
    Butterfly(x0, x1, c0);
    Butterfly(x2, x3, c1);
    v[0] = x0, v[quarter] = x1, v[2 * quarter] = x2, v[3 * quarter] = x3;
  }
  template <typename Step, typename Quarters>
  static void InOrder(const Step& step, const Quarters& quarters) {
    step();
    quarters();
  }
};

struct ForwardNetwork {
  const NttFactors& factors;

  Fr Factor(size_t block) const { return factors.twiddles[block]; }
  static void Butterfly(Fr& x, Fr& y, const Fr& c) {
    const Fr t = x - y;
    x += y;
    y = t * c;
  }
  // The same, level k + 1 first.
  static void Column(Fr* v, size_t quarter, const Fr& c, const Fr& c0, const Fr& c1) {
    Fr x0 = v[0], x1 = v[quarter], x2 = v[2 * quarter], x3 = v[3 * quarter];
    Butterfly(x0, x1, c0);
    Butterfly(x2, x3, c1);
    Butterfly(x0, x2, c);
    Butterfly(x1, x3, c);
    v[0] = x0, v[quarter] = x1, v[2 * quarter] = x2, v[3 * quarter] = x3;
  }
  template <typename Step, typename Quarters>
  static void InOrder(const Step& step, const Quarters& quarters) {
    quarters();
    step();
  }
};

// One or two levels on columns [begin, end).
template <typename Network>
void Pass(const Network& network, const NttBlock& b, uint32_t levels, size_t begin, size_t end) {
  const size_t columns = size_t{1} << (b.log2_size - levels);
  const Fr c = network.Factor(b.block);
  if (levels == 1) {
    for (size_t i = begin; i < end; ++i) Network::Butterfly(b.values[i], b.values[i + columns], c);
    return;
  }
  const Fr c0 = network.Factor(2 * b.block), c1 = network.Factor(2 * b.block + 1);
  for (size_t i = begin; i < end; ++i) Network::Column(b.values + i, columns, c, c0, c1);
}

template <typename Network>
void Leaf(const Network& network, const NttBlock& b) {
  if (b.log2_size == 0) return;
  if (b.log2_size == 1) return Pass(network, b, 1, 0, 1);
  const uint32_t quarter_log2 = b.log2_size - 2;
  const size_t quarter = size_t{1} << quarter_log2;
  Network::InOrder([&] { Pass(network, b, 2, 0, quarter); },
                   [&] {
                     for (size_t i = 0; i < 4; ++i) {
                       Leaf(network, {b.values + i * quarter, quarter_log2, 4 * b.block + i});
                     }
                   });
}

void InversePass(const NttFactors& factors, const NttBlock& block, uint32_t levels, size_t begin,
                 size_t end) {
  Pass(InverseNetwork{factors}, block, levels, begin, end);
}
void ForwardPass(const NttFactors& factors, const NttBlock& block, uint32_t levels, bool /*last*/,
                 size_t begin, size_t end) {
  Pass(ForwardNetwork{factors}, block, levels, begin, end);
}
void InverseLeaf(const NttFactors& factors, const NttBlock& block) { Leaf(InverseNetwork{factors}, block); }
void ForwardLeaf(const NttFactors& factors, const NttBlock& block, bool /*last*/) {
  Leaf(ForwardNetwork{factors}, block);
}

void Scale(const NttCoset& coset, size_t begin, size_t n, Fr* values) {
  const size_t low_mask = (size_t{1} << coset.low_bits) - 1;
  for (size_t i = 0; i < n; ++i) {
    const size_t place = begin + i;
    values[i] *= coset.high[place >> coset.low_bits] * coset.low[place & low_mask];
  }
}

void CosetLeaf(const NttFactors& factors, const NttCoset& coset, const NttBlock& block, bool /*last*/) {
  const size_t n = size_t{1} << block.log2_size;
  InverseLeaf(factors, block);
  Scale(coset, block.block * n, n, block.values);
  ForwardLeaf(factors, block, true);
}

}  // namespace

constexpr NttKernels kScalarNttKernels = {.factor_scale = 1,
                                          .leaf_log2 = kLeafLog2,
                                          .pass_levels_max = 2,
                                          .inverse_pass = InversePass,
                                          .forward_pass = ForwardPass,
                                          .inverse_leaf = InverseLeaf,
                                          .forward_leaf = ForwardLeaf,
                                          .coset_leaf = CosetLeaf,
                                          .scale = Scale};

}  // namespace proofmill::kernels
