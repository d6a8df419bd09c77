#include "kernels/cpu/babybear_ntt.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/parallel.h"
#include "kernels/field/babybear.h"

namespace proofmill::kernels {
namespace {

BabyBear At(const std::vector<uint32_t>& words, size_t i) { return BabyBear::FromMontgomery(words[i]); }

// blocks[2^j + b] = blocks[b] * g_(j + 2) for b < 2^j: setting bit j of the index adds 1 / 2^(j + 2) of a
// turn.
std::vector<uint32_t> MakeBlocks(size_t count) {
  std::vector<uint32_t> blocks(count);
  blocks[0] = BabyBear::One().montgomery();
  for (size_t size = 1; size < count; size *= 2) {
    const BabyBear root = BabyBearRootOfUnity(static_cast<uint32_t>(std::countr_zero(size)) + 2);
    ParallelFor(0, size, 4096, [&](size_t begin, size_t end) {
      for (size_t b = begin; b < end; ++b) blocks[size + b] = (At(blocks, b) * root).montgomery();
    });
  }
  return blocks;
}

// Layer by layer on single words, for blocks below the size that the kernels take.
void TransformWords(const std::vector<uint32_t>& blocks, uint32_t* data, uint32_t log2_size, size_t block) {
  for (uint32_t layer = 0; layer < log2_size; ++layer) {
    const size_t half = size_t{1} << (log2_size - 1 - layer);
    for (size_t b = 0; b < size_t{1} << layer; ++b) {
      const BabyBear s = At(blocks, (block << layer) + b);
      uint32_t* const part = data + 2 * b * half;
      for (size_t i = 0; i < half; ++i) {
        const BabyBear lo = BabyBear::FromMontgomery(part[i]);
        const BabyBear hi = BabyBear::FromMontgomery(part[i + half]) * s;
        part[i] = (lo + hi).montgomery();
        part[i + half] = (lo - hi).montgomery();
      }
    }
  }
}

}  // namespace

BabyBearNtt::BabyBearNtt(uint32_t log2_height_max)
    : kernels_(CurrentBabyBearKernels()),
      log2_tail_(2 * static_cast<uint32_t>(std::countr_zero(kernels_.lanes))),
      blocks_(MakeBlocks(std::max<size_t>(1, (size_t{1} << log2_height_max) / 2))) {
  if (log2_height_max < log2_tail_) return;
  const size_t groups = size_t{1} << (log2_height_max - log2_tail_);
  tails_.resize(groups * (kernels_.lanes - 1) * kernels_.lanes);
  ParallelFor(0, groups, 64, [&](size_t begin, size_t end) {
    kernels_.ntt_tails(blocks_.data(), tails_.data(), begin, end);
  });
}

void BabyBearNtt::TransformBlock(uint32_t* data, uint32_t log2_size, size_t block) const {
  if (log2_size < log2_tail_) return TransformWords(blocks_, data, log2_size, block);
  kernels_.ntt_block({blocks_.data(), tails_.data()}, data, log2_size, block);
}

void BabyBearNtt::TransformLargeBlock(uint32_t* data, uint32_t log2_size, size_t block) const {
  const size_t part = size_t{1} << (log2_size - 3);
  ParallelFor(0, part, 4096, [&](size_t begin, size_t end) {
    kernels_.ntt_three_layers({blocks_.data(), tails_.data()}, data, log2_size, block, begin, end);
  });
  ParallelFor(0, 8, 1,
              [&](size_t i, size_t) { TransformBlock(data + i * part, log2_size - 3, 8 * block + i); });
}

void BabyBearNtt::Encode(const Input& in, uint32_t log2_columns, uint32_t log2_height, uint32_t* out) const {
  constexpr uint32_t kLog2Large = 16;  // a block from here on is worth several threads
  const uint32_t log2_size = in.log2_length - log2_columns;
  const size_t size = size_t{1} << log2_size, copies = size_t{1} << (log2_height - log2_size);
  const size_t blocks = (in.planes << log2_columns) * copies;
  const bool split = log2_size >= kLog2Large && blocks < 4 * CurrentThreads();
  const auto source = [&](size_t column) {
    return in.data + column % in.planes * in.stride + column / in.planes * size;
  };
  if (split) {
    for (size_t i = 0; i < blocks; ++i) {
      const uint32_t* const from = source(i / copies);
      uint32_t* const to = out + i * size;
      ParallelFor(0, size, 1 << 15, [&](size_t begin, size_t end) {
        std::memcpy(to + begin, from + begin, (end - begin) * sizeof(uint32_t));
      });
      TransformLargeBlock(to, log2_size, i % copies);
    }
    return;
  }
  const size_t grain = std::max<size_t>(1, 4096 >> log2_size);
  ParallelFor(0, blocks, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      std::memcpy(out + i * size, source(i / copies), size * sizeof(uint32_t));
      TransformBlock(out + i * size, log2_size, i % copies);
    }
  });
}

}  // namespace proofmill::kernels
