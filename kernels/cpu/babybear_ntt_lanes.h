// The transform of babybear_ntt.h on vectors. Compiled once for each instruction set (babybear_lanes.h); the
// functions are described in babybear_kernels.h.
//
// A block is a polynomial modulo X^m - s^2; one layer makes it two, modulo X^(m/2) - s and X^(m/2) + s, with
// s = blocks[index of the block]. The first block's modulus is X^m - 1. Down to blocks of `lanes` elements a
// layer works on whole vectors; the last layers work on lanes^2 elements, transposed, so that lane l holds
// block l of the group.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_NTT_LANES_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_NTT_LANES_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/babybear_kernels.h"
#include "kernels/cpu/babybear_lanes.h"

namespace proofmill::kernels::PROOFMILL_LANES {

PROOFMILL_LANES_INLINE void Butterfly(Vec& a, Vec& b, Vec s) {
  const Vec t = Mul(b, s);
  b = Sub(a, t);
  a = Add(a, t);
}

// kLayers layers of `block` on one vector from each of its 2^kLayers parts, x[0] being from the first.
template <size_t kLayers, typename Twiddle>
PROOFMILL_LANES_INLINE void Layers(Vec* x, const Twiddle& twiddle) {
  Unrolled<kLayers>([&](size_t layer) PROOFMILL_LANES_BODY {
    const size_t half = size_t{1} << (kLayers - 1 - layer);
    for (size_t b = 0; b < size_t{1} << layer; ++b) {
      const Vec s = twiddle(layer, b);
      for (size_t i = 0; i < half; ++i) Butterfly(x[2 * b * half + i], x[(2 * b + 1) * half + i], s);
    }
  });
}

template <size_t kLayers>
PROOFMILL_LANES_INLINE void Pass(const uint32_t* blocks, uint32_t* data, uint32_t log2_size, size_t block,
                                 size_t begin, size_t end) {
  constexpr size_t kParts = size_t{1} << kLayers;
  const size_t part = size_t{1} << (log2_size - kLayers);
  Vec s[kParts];  // s[2^layer + b], b within the layer
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (size_t b = 0; b < size_t{1} << layer; ++b)
      s[(size_t{1} << layer) + b] = Set(blocks[(block << layer) + b]);
  }
  for (size_t j = begin; j < end; j += kLanes) {
    Vec x[kParts];
    Unrolled<kParts>([&](size_t i) PROOFMILL_LANES_BODY { x[i] = Load(data + i * part + j); });
    Layers<kLayers>(x,
                    [&](size_t layer, size_t b) PROOFMILL_LANES_BODY { return s[(size_t{1} << layer) + b]; });
    Unrolled<kParts>([&](size_t i) PROOFMILL_LANES_BODY { Store(data + i * part + j, x[i]); });
  }
}

inline void ThreeLayers(const BabyBearNttTables& tables, uint32_t* data, uint32_t log2_size, size_t block,
                        size_t begin, size_t end) {
  Pass<3>(tables.blocks, data, log2_size, block, begin, end);
}

// All layers of a block of lanes^2 elements.
PROOFMILL_LANES_INLINE void Tail(const BabyBearNttTables& tables, uint32_t* data, size_t block) {
  Vec x[kLanes];
  for (size_t i = 0; i < kLanes; ++i) x[i] = Load(data + i * kLanes);
  Layers<kLogLanes>(x, [&](size_t layer, size_t b)
                           PROOFMILL_LANES_BODY { return Set(tables.blocks[(block << layer) + b]); });
  Transpose(x);
  const uint32_t* const tails = tables.tails + block * (kLanes - 1) * kLanes;
  Layers<kLogLanes>(x, [&](size_t layer, size_t b) PROOFMILL_LANES_BODY {
    return Load(tails + ((size_t{1} << layer) - 1 + b) * kLanes);
  });
  Transpose(x);
  for (size_t i = 0; i < kLanes; ++i) Store(data + i * kLanes, x[i]);
}

inline void NttBlock(const BabyBearNttTables& tables, uint32_t* data, uint32_t log2_size, size_t block) {
  constexpr auto kTail = static_cast<uint32_t>(2 * kLogLanes);
  if (log2_size == kTail) return Tail(tables, data, block);
  const uint32_t left = (log2_size - kTail) % 3, layers = left == 0 ? 3 : left;
  const size_t part = size_t{1} << (log2_size - layers);
  if (layers == 1) Pass<1>(tables.blocks, data, log2_size, block, 0, part);
  if (layers == 2) Pass<2>(tables.blocks, data, log2_size, block, 0, part);
  if (layers == 3) Pass<3>(tables.blocks, data, log2_size, block, 0, part);
  for (size_t i = 0; i < size_t{1} << layers; ++i) {
    NttBlock(tables, data + i * part, log2_size - layers, (block << layers) + i);
  }
}

inline void NttTails(const uint32_t* blocks, uint32_t* tails, size_t begin, size_t end) {
  for (size_t group = begin; group < end; ++group) {
    uint32_t* out = tails + group * (kLanes - 1) * kLanes;
    for (size_t layer = 0; layer < kLogLanes; ++layer) {
      for (size_t b = 0; b < size_t{1} << layer; ++b) {
        for (size_t l = 0; l < kLanes; ++l) *out++ = blocks[((group * kLanes + l) << layer) + b];
      }
    }
  }
}

}  // namespace proofmill::kernels::PROOFMILL_LANES

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_NTT_LANES_H_
