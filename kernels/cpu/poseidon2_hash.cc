#include "kernels/cpu/poseidon2_hash.h"

#include <algorithm>
#include <atomic>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kRate = 8;
static_assert(sizeof(Digest) == kRate * sizeof(uint32_t));

uint32_t* Words(Digest* digests) { return reinterpret_cast<uint32_t*>(digests); }

size_t ReverseBits(size_t x, uint32_t bits) {
  size_t out = 0;
  for (uint32_t i = 0; i < bits; ++i) out |= (x >> i & 1) << (bits - 1 - i);
  return out;
}

Digest FirstEight(const BabyBear* state) {
  Digest out;
  std::copy_n(state, kRate, out.begin());
  return out;
}

void HashLeaves(const Poseidon2Constants<16>& constants, const Poseidon2Words& words,
                const ColumnMatrix& matrix, Digest* leaves) {
  const BabyBearKernels& kernels = CurrentBabyBearKernels();
  const size_t height = size_t{1} << matrix.log2_height;
  if (height < kernels.lanes) {
    for (size_t row = 0; row < height; ++row) {
      const std::vector<BabyBear> values = MatrixRow(matrix, row);
      leaves[row] = HashWords(constants, values.data(), values.size());
    }
    return;
  }
  const size_t grain = std::max<size_t>(1, 256 / std::max<size_t>(1, matrix.width / kRate));
  ParallelFor(0, height / kernels.lanes, grain,
              [&](size_t begin, size_t end) { kernels.hash_rows(words, matrix, begin, end, Words(leaves)); });
}

// The nodes of a layer over those of the layer below.
void HashLayer(const Poseidon2Constants<16>& constants, const Poseidon2Words& words, Digest* below,
               Digest* above, size_t count) {
  const BabyBearKernels& kernels = CurrentBabyBearKernels();
  const size_t in_lanes = count / kernels.lanes * kernels.lanes;
  ParallelFor(0, in_lanes / kernels.lanes, 64, [&](size_t begin, size_t end) {
    const size_t first = begin * kernels.lanes, n = (end - begin) * kernels.lanes;
    kernels.compress(words, Words(below + 2 * first), Words(above + first), n);
  });
  for (size_t i = in_lanes; i < count; ++i) above[i] = HashNode(constants, below[2 * i], below[2 * i + 1]);
}

}  // namespace

Digest HashWords(const Poseidon2Constants<16>& constants, const BabyBear* words, size_t n) {
  BabyBear state[16] = {};
  for (size_t i = 0; i < n; i += kRate) {
    std::copy_n(words + i, std::min(kRate, n - i), state);
    Poseidon2Permute(constants, state);
  }
  return FirstEight(state);
}

Digest HashNode(const Poseidon2Constants<16>& constants, const Digest& left, const Digest& right) {
  BabyBear state[16];
  std::copy(left.begin(), left.end(), state);
  std::copy(right.begin(), right.end(), state + kRate);
  Poseidon2Permute(constants, state);
  return FirstEight(state);
}

Poseidon2Words ToWords(const Poseidon2Constants<16>& constants) {
  Poseidon2Words out;
  const auto word = [](BabyBear c) { return c.montgomery() - kBabyBearP; };
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) {
    std::transform(constants.initial[r], constants.initial[r] + 16, out.initial[r], word);
    std::transform(constants.terminal[r], constants.terminal[r] + 16, out.terminal[r], word);
  }
  std::transform(constants.partial, constants.partial + kPoseidon2PartialRounds<16>, out.partial, word);
  return out;
}

MerkleTree::MerkleTree(const Poseidon2Constants<16>& constants, const ColumnMatrix& matrix, Digest* digests)
    : log2_height_(matrix.log2_height), digests_(digests) {
  const Poseidon2Words words = ToWords(constants);
  Digest* layer = digests;
  HashLeaves(constants, words, matrix, layer);
  for (size_t count = (size_t{1} << log2_height_) / 2; count > 0; count /= 2) {
    Digest* const above = layer + 2 * count;
    HashLayer(constants, words, layer, above, count);
    layer = above;
  }
}

std::vector<Digest> MerkleTree::Path(size_t row) const {
  std::vector<Digest> path;
  path.reserve(log2_height_);
  const Digest* layer = digests_;
  for (size_t count = size_t{1} << log2_height_; count > 1; count /= 2) {
    path.push_back(layer[row ^ 1]);
    layer += count;
    row >>= 1;
  }
  return path;
}

bool AllLeadTo(const Digest& root, const Poseidon2Constants<16>& constants,
               const std::vector<OpenedRow>& rows, size_t words, uint32_t height) {
  const BabyBearKernels& kernels = CurrentBabyBearKernels();
  const Poseidon2Words constant_words = ToWords(constants);
  const size_t lanes = kernels.lanes;
  std::vector<uint32_t> states(2 * kRate * lanes);  // word i of lane l at i * lanes + l
  const auto word = [&](size_t i, size_t l) -> uint32_t& { return states[i * lanes + l]; };
  for (size_t first = 0; first < rows.size(); first += lanes) {
    const auto row = [&](size_t l) -> const OpenedRow& { return rows[std::min(first + l, rows.size() - 1)]; };
    std::fill(states.begin(), states.end(), 0);
    for (size_t from = 0; from < words; from += kRate) {
      for (size_t l = 0; l < lanes; ++l) {
        for (size_t i = 0; i < std::min(kRate, words - from); ++i)
          word(i, l) = row(l).words[from + i].montgomery();
      }
      kernels.permute(constant_words, states.data(), 1);
    }
    for (uint32_t level = 0; level < height; ++level) {
      for (size_t l = 0; l < lanes; ++l) {
        const bool is_right = (row(l).position >> level & 1) != 0;
        for (size_t i = 0; i < kRate; ++i) {
          if (is_right) word(kRate + i, l) = word(i, l);
          word(is_right ? i : kRate + i, l) = row(l).path[level][i].montgomery();
        }
      }
      kernels.permute(constant_words, states.data(), 1);
    }
    for (size_t l = 0; l < lanes; ++l) {
      for (size_t i = 0; i < kRate; ++i) {
        if (word(i, l) != root[i].montgomery()) return false;
      }
    }
  }
  return true;
}

std::vector<BabyBear> MatrixRow(const ColumnMatrix& matrix, size_t row) {
  const size_t place = ReverseBits(row, matrix.log2_height);
  std::vector<BabyBear> out(matrix.width);
  for (size_t i = 0; i < matrix.width; ++i) {
    out[i] = BabyBear::FromMontgomery(matrix.data[(i << matrix.log2_height) + place]);
  }
  return out;
}

std::optional<uint32_t> SearchNonce(const Poseidon2Constants<16>& constants, const NonceSearch& search,
                                    uint64_t* tried) {
  constexpr uint64_t kChunk = 512;  // some 100 us of hashing
  const BabyBearKernels& kernels = CurrentBabyBearKernels();
  const Poseidon2Words words = ToWords(constants);
  const auto* const state = reinterpret_cast<const uint32_t*>(search.state.data());
  const uint32_t mask = (uint32_t{1} << search.bits) - 1;
  const uint64_t wave = kChunk * 8 * CurrentThreads();
  // Relaxed: only the smallest value counts, and the loop's end orders it before what follows.
  std::atomic<uint32_t> best{kNoNonce};
  for (uint64_t first = 0; first < search.end && best == kNoNonce; first += wave) {
    ParallelFor(first, std::min<uint64_t>(first + wave, search.end), kChunk, [&](size_t begin, size_t end) {
      uint32_t before = best.load(std::memory_order_relaxed);
      if (begin >= before) return;
      const uint32_t hit = kernels.search_nonce(words, state, search.position, mask,
                                                static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
      while (hit < before && !best.compare_exchange_weak(before, hit, std::memory_order_relaxed)) {
      }
    });
  }
  const uint32_t found = best;
  if (tried != nullptr) *tried += found == kNoNonce ? search.end : uint64_t{found} + 1;
  if (found == kNoNonce) return std::nullopt;
  return found;
}

}  // namespace proofmill::kernels
