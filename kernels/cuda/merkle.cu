#include "kernels/cuda/merkle.h"

#include <algorithm>

#include "kernels/cuda/eq.cuh"
#include "kernels/cuda/poseidon2.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::Ext;
using device::kQuad;
using device::kRate;
using device::kSpread;
using device::kWidth;
using device::Permute;
using device::QuadTable;
using device::ReverseBits;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kDigest = 8;

// Up to here one state in four lanes is over sooner. A permutation in one thread takes 178 instructions of a
// warp, one in four lanes 320 (counted in the machine code), but needs a quarter of the states to keep a
// device busy.
constexpr uint32_t kQuadLog2HeightMax = 14;
constexpr uint32_t kQuadNodesMax = 1u << 15;
// Up to here two rows and their node in one thread would leave the device half idle: a thread takes one row.
constexpr uint32_t kSingleLog2HeightMax = 16;
// Up to here sixteen lanes to a node are over sooner than four.
constexpr uint32_t kSpreadNodesMax = 1u << 12;

__device__ __forceinline__ void StoreDigest(uint32_t* tree, uint64_t i, const uint32_t (&s)[kWidth]) {
  auto* const out = reinterpret_cast<uint4*>(tree + i * kDigest);
  out[0] = {s[0], s[1], s[2], s[3]};
  out[1] = {s[4], s[5], s[6], s[7]};
}

// The sponge over the row at `place`; the next block is loaded while one is permuted.
__device__ __forceinline__ void HashRow(const Constants& constants, const DeviceMatrix& matrix,
                                        uint64_t place, uint32_t (&s)[kWidth]) {
  uint32_t next[kRate];
  const uint32_t* const column = matrix.data + place;
  const auto load = [&](uint32_t from) {
#pragma unroll
    for (uint32_t j = 0; j < kRate; ++j) {
      if (from + j < matrix.width) next[j] = __ldg(column + (uint64_t{from + j} << matrix.log2_height));
    }
  };
#pragma unroll
  for (int j = 0; j < kWidth; ++j) s[j] = 0;
  load(0);
  for (uint32_t from = 0; from < matrix.width; from += kRate) {
#pragma unroll
    for (uint32_t j = 0; j < kRate; ++j) {
      if (from + j < matrix.width) s[j] = next[j];
    }
    load(from + kRate);
    Permute(constants, s);
  }
}

__device__ __forceinline__ void HashNode(const Constants& constants, const uint32_t* children, uint32_t* out,
                                         uint64_t i) {
  const auto* const in = reinterpret_cast<const uint4*>(children + i * 2 * kDigest);
  uint32_t s[kWidth];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const uint4 words = in[j];
    s[4 * j] = words.x;
    s[4 * j + 1] = words.y;
    s[4 * j + 2] = words.z;
    s[4 * j + 3] = words.w;
  }
  Permute(constants, s);
  StoreDigest(out, i, s);
}

// Two sibling rows and their node a thread. Row 2i is at place `p` below half the height, row 2i + 1 half the
// height further.
__global__ void __launch_bounds__(kThreads)
    LeafPairs(const __grid_constant__ Constants constants, DeviceMatrix matrix, uint32_t* tree) {
  const uint32_t half = 1u << (matrix.log2_height - 1);
  const uint32_t p = blockIdx.x * kThreads + threadIdx.x;
  if (p >= half) return;
  const uint64_t leaf = ReverseBits(p, matrix.log2_height);
  uint32_t left[kDigest], s[kWidth];
  HashRow(constants, matrix, p, s);
  StoreDigest(tree, leaf, s);
#pragma unroll
  for (uint32_t j = 0; j < kDigest; ++j) left[j] = s[j];
  HashRow(constants, matrix, uint64_t{p} + half, s);
  StoreDigest(tree, leaf + 1, s);
#pragma unroll
  for (uint32_t j = 0; j < kDigest; ++j) {
    s[kDigest + j] = s[j];
    s[j] = left[j];
  }
  Permute(constants, s);
  StoreDigest(tree + (uint64_t{kDigest} << matrix.log2_height), leaf / 2, s);
}

__global__ void __launch_bounds__(kThreads)
    Leaves(const __grid_constant__ Constants constants, DeviceMatrix matrix, uint32_t* tree) {
  const uint32_t p = blockIdx.x * kThreads + threadIdx.x;
  if (p >= (1u << matrix.log2_height)) return;
  uint32_t s[kWidth];
  HashRow(constants, matrix, p, s);
  StoreDigest(tree, ReverseBits(p, matrix.log2_height), s);
}

// The layer above the 2 * count digests at `below`, a node a thread.
__global__ void __launch_bounds__(kThreads) Nodes(const __grid_constant__ Constants constants,
                                                  const uint32_t* below, uint32_t* above, uint32_t count) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) HashNode(constants, below, above, i);
}

// The sponge over the row at `place`, in four lanes; the words of a block are in the first two.
__device__ __forceinline__ void QuadHashRow(const QuadTable& table, const DeviceMatrix& matrix,
                                            uint64_t place, uint32_t (&s)[kQuad]) {
  const uint32_t first = threadIdx.x % kQuad * kQuad;
  uint32_t next[kQuad];
  const auto is_input = [&](uint32_t from, uint32_t j) {
    return first < kRate && from + first + j < matrix.width;
  };
  const auto load = [&](uint32_t from) {
#pragma unroll
    for (uint32_t j = 0; j < kQuad; ++j) {
      if (is_input(from, j))
        next[j] = __ldg(matrix.data + (uint64_t{from + first + j} << matrix.log2_height) + place);
    }
  };
#pragma unroll
  for (uint32_t j = 0; j < kQuad; ++j) s[j] = 0;
  load(0);
  for (uint32_t from = 0; from < matrix.width; from += kRate) {
#pragma unroll
    for (uint32_t j = 0; j < kQuad; ++j) {
      if (is_input(from, j)) s[j] = next[j];
    }
    load(from + kRate);
    device::QuadPermute(table, s);
  }
}

// As LeafPairs, with a row in four lanes: the first half of a block hashes left rows and then their nodes,
// the other half the siblings of its rows. 3 KiB of shared memory.
constexpr uint32_t kQuadThreads = 256;
constexpr uint32_t kQuadPairs = kQuadThreads / kQuad / 2;
__global__ void __launch_bounds__(kQuadThreads)
    QuadLeafPairs(const __grid_constant__ Constants constants, DeviceMatrix matrix, uint32_t* tree) {
  __shared__ QuadTable table;
  __shared__ uint4 digests[2][kQuadPairs][2];
  device::FillQuadTable(constants, table);
  const uint32_t half = 1u << (matrix.log2_height - 1);
  const uint32_t lane = threadIdx.x % kQuad, quad = threadIdx.x / kQuad;
  const uint32_t pair = quad % kQuadPairs, side = quad / kQuadPairs;
  const uint32_t p = blockIdx.x * kQuadPairs + pair, place = min(p, half - 1) + side * half;
  const uint64_t leaf = ReverseBits(place, matrix.log2_height);
  auto* const out = reinterpret_cast<uint4*>(tree);
  uint32_t s[kQuad];
  QuadHashRow(table, matrix, place, s);
  if (lane < 2) {
    digests[side][pair][lane] = {s[0], s[1], s[2], s[3]};
    if (p < half) out[leaf * 2 + lane] = {s[0], s[1], s[2], s[3]};
  }
  __syncthreads();
  if (side != 0) return;
  const uint4 words = digests[lane / 2][pair][lane % 2];
  s[0] = words.x;
  s[1] = words.y;
  s[2] = words.z;
  s[3] = words.w;
  device::QuadPermute(table, s);
  if (lane < 2 && p < half)
    out[(uint64_t{2} << matrix.log2_height) + leaf / 2 * 2 + lane] = {s[0], s[1], s[2], s[3]};
}

// `levels` layers above the 2 * count digests at `below`, one after the other, a node in four lanes. A block
// computes the part of each layer that is over its own part of the first; digests go from layer to layer in
// shared memory, 8.5 KiB.
constexpr uint32_t kTopThreads = 512;
constexpr uint32_t kTopNodes = kTopThreads / kQuad;
constexpr uint32_t kTopLevels = 8;
static_assert(kTopNodes == 1u << (kTopLevels - 1));
__global__ void __launch_bounds__(kTopThreads)
    TopNodes(const __grid_constant__ Constants constants, uint32_t* below, uint32_t count, uint32_t levels) {
  __shared__ QuadTable table;
  __shared__ uint4 digests[2 * kTopNodes][2];
  device::FillQuadTable(constants, table);
  const uint32_t lane = threadIdx.x % kQuad, node = threadIdx.x / kQuad;
  const uint32_t first_of_warp = threadIdx.x / 32 * (32 / kQuad);
  uint32_t first = blockIdx.x * kTopNodes, here = min(kTopNodes, count - first);
  auto* above = reinterpret_cast<uint4*>(below) + uint64_t{count} * 4;
  uint4(*held)[2] = digests;  // the digests of the layer at work
  uint4 words = reinterpret_cast<const uint4*>(below)[(first + min(node, here - 1)) * uint64_t{kQuad} + lane];
  for (uint32_t level = 0;;) {
    if (first_of_warp < here) {
      uint32_t s[kQuad] = {words.x, words.y, words.z, words.w};
      device::QuadPermute(table, s);
      if (node < here && lane < 2) {
        held[node][lane] = {s[0], s[1], s[2], s[3]};
        above[uint64_t{first + node} * 2 + lane] = {s[0], s[1], s[2], s[3]};
      }
    }
    if (++level == levels) return;
    __syncthreads();
    above += uint64_t{count} * 2;
    count /= 2;
    first /= 2;
    here /= 2;
    if (first_of_warp < here) words = held[2 * min(node, here - 1) + lane / 2][lane % 2];
    held += 2 * here;
  }
}

// The same with a node in sixteen lanes. 4.5 KiB of shared memory.
constexpr uint32_t kSpreadNodes = kTopThreads / kSpread;
constexpr uint32_t kSpreadLevels = 6;
static_assert(kSpreadNodes == 1u << (kSpreadLevels - 1));
__global__ void __launch_bounds__(kTopThreads) SpreadNodes(const __grid_constant__ Constants constants,
                                                           uint32_t* below, uint32_t count, uint32_t levels) {
  __shared__ QuadTable table;
  __shared__ uint32_t digests[2 * kSpreadNodes][kDigest];
  device::FillQuadTable(constants, table);
  const uint32_t word = device::SpreadWord(), node = threadIdx.x / kSpread;
  const uint32_t first_of_warp = threadIdx.x / 32 * (32 / kSpread);
  uint32_t first = blockIdx.x * kSpreadNodes, here = min(kSpreadNodes, count - first);
  uint32_t* above = below + uint64_t{count} * 2 * kDigest;
  uint32_t(*held)[kDigest] = digests;  // the digests of the layer at work
  uint32_t s = below[(first + min(node, here - 1)) * uint64_t{kWidth} + word];
  for (uint32_t level = 0;;) {
    if (first_of_warp < here) {
      device::SpreadPermute(table, s);
      if (node < here && word < kDigest) {
        held[node][word] = s;
        above[uint64_t{first + node} * kDigest + word] = s;
      }
    }
    if (++level == levels) return;
    __syncthreads();
    above += uint64_t{count} * kDigest;
    count /= 2;
    first /= 2;
    here /= 2;
    if (first_of_warp < here) s = held[2 * min(node, here - 1) + word / kDigest][word % kDigest];
    held += 2 * here;
  }
}

constexpr uint32_t kLog2WidthMax = 8;
static_assert(kThreads == 1u << kLog2WidthMax);

// The value of a row at a point, in the first thread. All threads of the block call it.
template <int kD>
__device__ __forceinline__ Ext<kD> EvaluateRow(const uint32_t* row, const RowPoint& at) {
  Ext<kD> sum = {};
  if (threadIdx.x < (1u << at.log2_width)) {
    const Ext<kD> weight = device::EqAt<kD>(at.point, at.log2_width, threadIdx.x);
    sum = at.extension ? device::LoadExt<kD>(row + threadIdx.x * kD) * weight
                       : device::Scale(weight, row[threadIdx.x]);
  }
  device::BlockSum<kThreads>(sum.c);
  return sum;
}

template <int kD>
__global__ void __launch_bounds__(kThreads)
    CopyOpenings(DeviceMatrix matrix, const uint32_t* tree, const uint32_t* positions, const uint32_t* count,
                 uint32_t* out, RowPoint at) {
  if (blockIdx.x >= *count) return;
  const uint32_t position = positions[blockIdx.x];
  const uint32_t place = ReverseBits(position, matrix.log2_height);
  const uint32_t path = matrix.log2_height * kDigest;
  out += uint64_t{blockIdx.x} * (matrix.width + path);
  for (uint32_t i = threadIdx.x; i < matrix.width; i += kThreads)
    out[i] = matrix.data[(uint64_t{i} << matrix.log2_height) + place];
  for (uint32_t i = threadIdx.x; i < path; i += kThreads) {
    const uint32_t level = i / kDigest;
    const uint64_t leaves = uint64_t{1} << matrix.log2_height;
    const uint64_t layer = 2 * leaves - (2 * leaves >> level);  // digests below this level
    out[matrix.width + i] = tree[(layer + ((position >> level) ^ 1)) * kDigest + i % kDigest];
  }
  if (at.values == nullptr) return;
  __syncthreads();  // the row is whole
  const Ext<kD> value = EvaluateRow<kD>(out, at);
  if (threadIdx.x == 0) device::StoreExt(at.values + uint64_t{blockIdx.x} * kD, value);
}

__global__ void __launch_bounds__(kThreads) Permutations(const __grid_constant__ Constants constants,
                                                         uint32_t* states, uint32_t count, uint32_t times) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  uint32_t s[kWidth];
#pragma unroll
  for (int j = 0; j < kWidth; ++j) s[j] = states[uint64_t{i} * kWidth + j];
#pragma unroll 1
  for (uint32_t t = 0; t < times; ++t) Permute(constants, s);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) states[uint64_t{i} * kWidth + j] = s[j];
}

__global__ void __launch_bounds__(kQuadThreads)
    QuadPermutations(const __grid_constant__ Constants constants, uint32_t* states, uint32_t count,
                     uint32_t times) {
  __shared__ QuadTable table;
  device::FillQuadTable(constants, table);
  const uint32_t i = blockIdx.x * (kQuadThreads / kQuad) + threadIdx.x / kQuad;
  auto* const words =
      reinterpret_cast<uint4*>(states) + uint64_t{min(i, count - 1)} * kQuad + threadIdx.x % kQuad;
  uint32_t s[kQuad] = {words->x, words->y, words->z, words->w};
#pragma unroll 1
  for (uint32_t t = 0; t < times; ++t) device::QuadPermute(table, s);
  if (i < count) *words = {s[0], s[1], s[2], s[3]};
}

__global__ void __launch_bounds__(kQuadThreads)
    SpreadPermutations(const __grid_constant__ Constants constants, uint32_t* states, uint32_t count,
                       uint32_t times) {
  __shared__ QuadTable table;
  device::FillQuadTable(constants, table);
  const uint32_t i = blockIdx.x * (kQuadThreads / kSpread) + threadIdx.x / kSpread;
  uint32_t* const word = states + uint64_t{min(i, count - 1)} * kSpread + device::SpreadWord();
  uint32_t s = *word;
#pragma unroll 1
  for (uint32_t t = 0; t < times; ++t) device::SpreadPermute(table, s);
  if (i < count) *word = s;
}

uint32_t Blocks(uint64_t n) { return static_cast<uint32_t>((n + kThreads - 1) / kThreads); }

// The layers above one of 2 * count digests, as long as they have more than `count_min` nodes. Returns the
// nodes of the next, 0 after the root, and sets `below` to its children.
uint32_t LaunchWideLayers(const Constants& constants, uint32_t count, uint32_t count_min, uint32_t*& below,
                          cudaStream_t stream) {
  for (; count > count_min; count /= 2) {
    uint32_t* const above = below + uint64_t{count} * 2 * kDigest;
    Nodes<<<Blocks(count), kThreads, 0, stream>>>(constants, below, above, count);
    below = above;
  }
  return count;
}
// Layers of `count` nodes and fewer, down to the root, over the digests at `below`.
void LaunchTopLayers(const Constants& constants, uint32_t count, uint32_t* below, cudaStream_t stream) {
  while (count > 0) {
    const bool spread = count <= kSpreadNodesMax;
    const uint32_t count_min = spread ? 0 : kSpreadNodesMax, levels_max = spread ? kSpreadLevels : kTopLevels;
    uint32_t levels = 0, left = count;
    uint32_t* next = below;
    for (; left > count_min && levels < levels_max; left /= 2, ++levels) next += uint64_t{left} * 2 * kDigest;
    if (spread) {
      const uint32_t blocks = (count + kSpreadNodes - 1) / kSpreadNodes;
      SpreadNodes<<<blocks, kTopThreads, 0, stream>>>(constants, below, count, levels);
    } else {
      const uint32_t blocks = (count + kTopNodes - 1) / kTopNodes;
      TopNodes<<<blocks, kTopThreads, 0, stream>>>(constants, below, count, levels);
    }
    count = left;
    below = next;
  }
}

}  // namespace

cudaError_t LaunchMerkleTree(const Poseidon2Constants<16>& constants, const DeviceMatrix& matrix,
                             uint32_t* tree, cudaStream_t stream) {
  if (matrix.log2_height == 0) return LaunchMerkleTreeUnfused(constants, matrix, tree, stream);
  const uint32_t half = 1u << (matrix.log2_height - 1);
  uint32_t* below = tree;  // the digests under the layers that are left
  if (matrix.log2_height > kQuadLog2HeightMax && matrix.log2_height <= kSingleLog2HeightMax) {
    Leaves<<<Blocks(uint64_t{2} * half), kThreads, 0, stream>>>(constants, matrix, tree);
  } else {
    if (matrix.log2_height <= kQuadLog2HeightMax) {
      QuadLeafPairs<<<(half + kQuadPairs - 1) / kQuadPairs, kQuadThreads, 0, stream>>>(constants, matrix,
                                                                                       tree);
    } else {
      LeafPairs<<<Blocks(half), kThreads, 0, stream>>>(constants, matrix, tree);
    }
    below += uint64_t{kDigest} << matrix.log2_height;
  }
  const uint32_t count = below == tree ? half : half / 2;
  const uint32_t left = LaunchWideLayers(constants, count, kQuadNodesMax, below, stream);
  LaunchTopLayers(constants, left, below, stream);
  return cudaGetLastError();
}

cudaError_t LaunchMerkleTreeUnfused(const Poseidon2Constants<16>& constants, const DeviceMatrix& matrix,
                                    uint32_t* tree, cudaStream_t stream) {
  const uint32_t height = 1u << matrix.log2_height;
  Leaves<<<Blocks(height), kThreads, 0, stream>>>(constants, matrix, tree);
  LaunchWideLayers(constants, height / 2, 0, tree, stream);
  return cudaGetLastError();
}

template <int kDegree>
cudaError_t LaunchOpenings(const DeviceMatrix& matrix, const uint32_t* tree, const uint32_t* positions,
                           const uint32_t* count, uint32_t count_max, uint32_t* out, const RowPoint& at,
                           cudaStream_t stream) {
  if (count_max == 0) return cudaSuccess;
  CopyOpenings<kDegree><<<count_max, kThreads, 0, stream>>>(matrix, tree, positions, count, out, at);
  return cudaGetLastError();
}
template cudaError_t LaunchOpenings<4>(const DeviceMatrix&, const uint32_t*, const uint32_t*, const uint32_t*,
                                       uint32_t, uint32_t*, const RowPoint&, cudaStream_t);
template cudaError_t LaunchOpenings<5>(const DeviceMatrix&, const uint32_t*, const uint32_t*, const uint32_t*,
                                       uint32_t, uint32_t*, const RowPoint&, cudaStream_t);

cudaError_t LaunchPermutations(const Poseidon2Constants<16>& constants, uint32_t* states, uint32_t count,
                               uint32_t times, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  Permutations<<<Blocks(count), kThreads, 0, stream>>>(constants, states, count, times);
  return cudaGetLastError();
}

cudaError_t LaunchQuadPermutations(const Poseidon2Constants<16>& constants, uint32_t* states, uint32_t count,
                                   uint32_t times, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  constexpr uint32_t kStates = kQuadThreads / kQuad;
  QuadPermutations<<<(count + kStates - 1) / kStates, kQuadThreads, 0, stream>>>(constants, states, count,
                                                                                 times);
  return cudaGetLastError();
}

cudaError_t LaunchSpreadPermutations(const Poseidon2Constants<16>& constants, uint32_t* states,
                                     uint32_t count, uint32_t times, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  constexpr uint32_t kStates = kQuadThreads / kSpread;
  SpreadPermutations<<<(count + kStates - 1) / kStates, kQuadThreads, 0, stream>>>(constants, states, count,
                                                                                   times);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
