#include "kernels/cuda/babybear_ntt.h"

#include <algorithm>

#include "kernels/cuda/babybear.cuh"

namespace proofmill::kernels {
namespace {

using device::Add;
using device::Mul;
using device::Sub;

constexpr uint32_t kThreads = 512;
constexpr uint32_t kTileBitsMax = 13;
constexpr uint32_t kStridedBitsMax = 9;  // of 13: 16 neighbouring words, 64 bytes, in every access

// Layers of blocks of 2^block_bits words. A tile has 2^tile_bits words: 2^layers rows, 2^(block_bits -
// layers) apart, of 2^(tile_bits - layers) neighbours; or, contiguous, any number of whole blocks.
struct Pass {
  uint32_t block_bits;
  uint32_t layers;
  uint32_t tile_bits;
  bool contiguous;

  __device__ uint32_t column_bits() const { return contiguous ? 0 : tile_bits - layers; }
  // The place in its column of word `e` of a tile.
  __device__ uint32_t Place(uint32_t tile, uint32_t e) const {
    if (contiguous) return (tile << tile_bits) + e;
    const uint32_t gap_bits = block_bits - layers, tiles_bits = gap_bits - column_bits();
    const uint32_t block = tile >> tiles_bits, first = (tile & ((1u << tiles_bits) - 1)) << column_bits();
    const uint32_t row = e >> column_bits(), column = e & ((1u << column_bits()) - 1);
    return (block << block_bits) + (row << gap_bits) + first + column;
  }
  // log2 of the distance in the column of two words that are 2^bit apart in the tile.
  __device__ uint32_t GapBits(uint32_t bit) const {
    return contiguous ? bit : bit - column_bits() + block_bits - layers;
  }
};

// Neighbouring threads of the last steps are 2 to 16 words apart: one more word every 32 spreads them over
// the banks.
__device__ __forceinline__ uint32_t Padded(uint32_t e) { return e + (e >> 5); }
constexpr uint32_t kSharedWords = (1u << kTileBitsMax) + (1u << (kTileBitsMax - 5));

// kLayers layers of a tile, the last of which joins words 2^bit apart.
template <uint32_t kLayers>
__device__ __forceinline__ void Step(const Pass& pass, const uint32_t* blocks, uint32_t tile, uint32_t bit,
                                     uint32_t* shared) {
  constexpr uint32_t kParts = 1u << kLayers;
  for (uint32_t group = threadIdx.x; group < (1u << (pass.tile_bits - kLayers)); group += kThreads) {
    const uint32_t e = ((group >> bit) << (bit + kLayers)) | (group & ((1u << bit) - 1));
    const uint32_t block = pass.Place(tile, e) >> (pass.GapBits(bit) + kLayers);
    uint32_t x[kParts];
#pragma unroll
    for (uint32_t i = 0; i < kParts; ++i) x[i] = shared[Padded(e + (i << bit))];
#pragma unroll
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      const uint32_t half = 1u << (kLayers - 1 - layer);
#pragma unroll
      for (uint32_t b = 0; b < (1u << layer); ++b) {
        const uint32_t s = __ldg(blocks + (block << layer) + b);
#pragma unroll
        for (uint32_t i = 0; i < half; ++i) {
          const uint32_t low = x[2 * b * half + i];
          const uint32_t high = Mul(x[(2 * b + 1) * half + i], s);
          x[2 * b * half + i] = Add(low, high);
          x[(2 * b + 1) * half + i] = Sub(low, high);
        }
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kParts; ++i) shared[Padded(e + (i << bit))] = x[i];
  }
  __syncthreads();
}

// Where the words of a column come from: the polynomial, repeated, or the column itself.
struct Source {
  const uint32_t* data;
  size_t stride;    // of planes
  uint32_t planes;  // columns side by side
  uint32_t bits;    // a column begins every 2^bits words of a plane and has as many
};

// blockIdx.x picks the tile of a column, blockIdx.y and .z the column.
__global__ void __launch_bounds__(kThreads)
    EncodePass(Pass pass, const uint32_t* blocks, Source source, uint32_t columns, uint32_t log2_height,
               uint32_t* out) {
  __shared__ uint32_t shared[kSharedWords];
  const uint32_t tile = blockIdx.x;
  const uint32_t column = blockIdx.z * gridDim.y + blockIdx.y;
  if (column >= columns) return;
  const uint32_t* const in = source.data + (column % source.planes) * source.stride +
                             (uint64_t{column / source.planes} << source.bits);
  const auto mask = static_cast<uint32_t>((uint64_t{1} << source.bits) - 1);
  uint32_t* const to = out + (uint64_t{column} << log2_height);
  const uint32_t words = 1u << pass.tile_bits;
#pragma unroll 4
  for (uint32_t e = threadIdx.x; e < words; e += kThreads) shared[Padded(e)] = in[pass.Place(tile, e) & mask];
  __syncthreads();
  uint32_t bit = pass.column_bits() + pass.layers;
  for (uint32_t left = pass.layers; left != 0;) {
    const uint32_t layers = left % 4 == 0 ? 4 : left % 4;
    left -= layers;
    bit -= layers;
    if (layers == 1) Step<1>(pass, blocks, tile, bit, shared);
    if (layers == 2) Step<2>(pass, blocks, tile, bit, shared);
    if (layers == 3) Step<3>(pass, blocks, tile, bit, shared);
    if (layers == 4) Step<4>(pass, blocks, tile, bit, shared);
  }
#pragma unroll 4
  for (uint32_t e = threadIdx.x; e < words; e += kThreads) to[pass.Place(tile, e)] = shared[Padded(e)];
}

struct Roots {
  uint32_t root[kBabyBearTwoAdicity];  // for each bit of an index, the root of order 2^(bit + 2)
};
__global__ void __launch_bounds__(kThreads)
    FillTwiddles(const __grid_constant__ Roots roots, uint32_t count, uint32_t* blocks) {
  const uint32_t b = blockIdx.x * kThreads + threadIdx.x;
  if (b >= count) return;
  uint32_t twiddle = kBabyBearR;
  for (uint32_t bit = 0; b >> bit != 0; ++bit) {
    if ((b >> bit & 1) != 0) twiddle = Mul(twiddle, roots.root[bit]);
  }
  blocks[b] = twiddle;
}

// Strided passes of about equal height, then the contiguous one.
struct Plan {
  uint32_t count = 0;
  Pass passes[4];
};
Plan MakePlan(uint32_t log2_size, uint32_t log2_height) {
  Plan plan;
  uint32_t block_bits = log2_size;
  const uint32_t last = std::min(log2_size, kTileBitsMax);
  while (block_bits > last) {
    const uint32_t left = block_bits - last, passes = (left + kStridedBitsMax - 1) / kStridedBitsMax;
    const uint32_t layers = (left + passes - 1) / passes;
    plan.passes[plan.count++] = {block_bits, layers, kTileBitsMax, false};
    block_bits -= layers;
  }
  plan.passes[plan.count++] = {block_bits, block_bits, std::min(log2_height, kTileBitsMax), true};
  return plan;
}

}  // namespace

cudaError_t LaunchBabyBearTwiddles(uint32_t* blocks, uint32_t log2_height_max, cudaStream_t stream) {
  const uint32_t count = std::max(1u, (1u << log2_height_max) / 2);
  Roots roots = {};
  for (uint32_t bit = 0; bit + 2 <= kBabyBearTwoAdicity; ++bit)
    roots.root[bit] = BabyBearRootOfUnity(bit + 2).montgomery();
  FillTwiddles<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(roots, count, blocks);
  return cudaGetLastError();
}

cudaError_t LaunchEncode(const EncodeTask& task, cudaStream_t stream) {
  constexpr uint32_t kGridYMax = 32768;
  const uint32_t log2_size = task.log2_length - task.log2_columns;
  const uint32_t columns = task.planes << task.log2_columns;
  const Plan plan = MakePlan(log2_size, task.log2_height);
  Source source = {task.in, task.stride, task.planes, log2_size};
  for (uint32_t i = 0; i < plan.count; ++i) {
    const Pass& pass = plan.passes[i];
    const uint32_t y = std::min(columns, kGridYMax);
    const dim3 grid(1u << (task.log2_height - pass.tile_bits), y, (columns + y - 1) / y);
    EncodePass<<<grid, kThreads, 0, stream>>>(pass, task.blocks, source, columns, task.log2_height, task.out);
    source = {task.out, 0, 1, task.log2_height};
  }
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
