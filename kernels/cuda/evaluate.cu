#include "kernels/cuda/evaluate.h"

#include <algorithm>

#include "kernels/cuda/babybear.cuh"
#include "kernels/cuda/eq.cuh"
#include "kernels/cuda/poseidon2.cuh"
#include "kernels/cuda/sponge.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::EqAt;
using device::Ext;
using device::LoadExt;
using device::QuadTable;
using device::Shorten;
using device::StoreExt;
using device::WarpSponge;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kHiTile = 64;

// The factors of eq(point, b) that a block needs. Its low indices have eight bits, the upper four of which
// pick `upper`, which has the block's own bits in it, and the lower four `lower`; low indices with fewer bits
// have them in `lower` first.
template <int kD>
struct EqParts {
  Ext<kD> upper[16], lower[16], hi[kHiTile];
};

// Sums f[hi][lo] * eq(hi) over a block's high indices, times eq(lo), over its low ones. blockIdx.x picks the
// low indices, blockIdx.y `his` high ones. All threads of the block call it; the sum is in the first warp.
template <int kD, bool kExtension>
__device__ __forceinline__ Ext<kD> EvaluatePart(const DeviceVectorView& f, const uint32_t* point,
                                                uint32_t lo_bits, uint32_t hi_bits, uint32_t his) {
  __shared__ EqParts<kD> eq;
  const uint32_t lower_bits = min(lo_bits, 4u), upper_bits = min(lo_bits - lower_bits, 4u);
  const uint32_t* const lo_point = point + hi_bits * kD;
  const uint32_t t = threadIdx.x, lo = blockIdx.x * kThreads + t;
  if (t < (1u << lower_bits)) eq.lower[t] = EqAt<kD>(lo_point + (lo_bits - lower_bits) * kD, lower_bits, t);
  if (t >= 32 && t - 32 < (1u << upper_bits))
    eq.upper[t - 32] = EqAt<kD>(lo_point, lo_bits - lower_bits, (blockIdx.x << upper_bits) + t - 32);

  const uint32_t first_hi = blockIdx.y * his, end_hi = min(first_hi + his, 1u << hi_bits);
  const bool mine = lo < (1u << lo_bits);
  Ext<kD> total = {};
  uint64_t sums[kD] = {};
  for (uint32_t first = first_hi; first < end_hi; first += kHiTile) {
    const uint32_t here = min(end_hi - first, kHiTile);
    __syncthreads();
    if (t >= 64 && t - 64 < here) eq.hi[t - 64] = EqAt<kD>(point, hi_bits, first + t - 64);
    __syncthreads();
    if (!mine) continue;
#pragma unroll 4
    for (uint32_t i = 0; i < here; ++i) {
      const uint64_t place = (uint64_t{first + i} << lo_bits) + lo;
      if constexpr (kExtension) {
        total = total + device::LoadPlanes<kD>(f.data, f.stride, place) * eq.hi[i];
      } else {
        const uint32_t value = f.data[place];
#pragma unroll
        for (int k = 0; k < kD; ++k) sums[k] = Shorten(sums[k] + uint64_t{value} * eq.hi[i].c[k]);
      }
    }
  }
  if constexpr (!kExtension) {
#pragma unroll
    for (int k = 0; k < kD; ++k) total.c[k] = device::Reduce(sums[k]);
  }
  if (mine) total = total * (eq.upper[t >> lower_bits] * eq.lower[t & ((1u << lower_bits) - 1)]);
  device::BlockSum<kThreads>(total.c);
  return total;
}

template <int kD, bool kExtension>
__global__ void __launch_bounds__(kThreads)
    Answer(const __grid_constant__ Constants constants, DeviceSponge* memory, DeviceVectorView f,
           uint32_t lo_bits, uint32_t hi_bits, uint32_t his, AnswerStep step) {
  __shared__ QuadTable table;
  Ext<kD> value = EvaluatePart<kD, kExtension>(f, step.point, lo_bits, hi_bits, his);
  const uint32_t blocks = gridDim.x * gridDim.y;
  if (blocks > 1) {
    if (threadIdx.x == 0)
      StoreExt(step.partials + (uint64_t{blockIdx.y} * gridDim.x + blockIdx.x) * kD, value);
    if (!device::IsLastBlock(step.arrived)) return;
    value = {};
    for (uint32_t i = threadIdx.x; i < blocks; i += kThreads)
      value = value + LoadExt<kD>(step.partials + uint64_t{i} * kD);
    device::BlockSum<kThreads>(value.c);
  }
  device::FillQuadTable(constants, table);
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) {
    StoreExt(step.value, value);
    StoreExt(step.copy, value);
    *step.arrived = 0;
  }
  WarpSponge sponge(table, memory);
#pragma unroll
  for (int k = 0; k < kD; ++k) sponge.Observe(value.c[k]);
  if (step.next_point != nullptr) sponge.SamplePoint<kD>(lo_bits + hi_bits, step.next_point);
  sponge.Save(memory);
}

}  // namespace

template <int kDegree>
cudaError_t LaunchAnswer(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                         const DeviceVectorView& f, uint32_t log2_size, const AnswerStep& step,
                         cudaStream_t stream) {
  const uint32_t lo_bits = LoBits(log2_size), hi_bits = HiBits(log2_size);
  const uint32_t lo_blocks = ((1u << lo_bits) + kThreads - 1) / kThreads, hi_count = 1u << hi_bits;
  const auto hi_blocks_max = static_cast<uint32_t>(std::max<size_t>(1, kPartialSumsMax / lo_blocks));
  const uint32_t his = std::max<uint32_t>(8, (hi_count + hi_blocks_max - 1) / hi_blocks_max);
  const dim3 grid(lo_blocks, (hi_count + his - 1) / his);
  if (f.extension) {
    Answer<kDegree, true><<<grid, kThreads, 0, stream>>>(constants, sponge, f, lo_bits, hi_bits, his, step);
  } else {
    Answer<kDegree, false><<<grid, kThreads, 0, stream>>>(constants, sponge, f, lo_bits, hi_bits, his, step);
  }
  return cudaGetLastError();
}

#define PROOFMILL_INSTANTIATE(D)                                                     \
  template cudaError_t LaunchAnswer<D>(const Poseidon2Constants<16>&, DeviceSponge*, \
                                       const DeviceVectorView&, uint32_t, const AnswerStep&, cudaStream_t)
PROOFMILL_INSTANTIATE(4);
PROOFMILL_INSTANTIATE(5);
#undef PROOFMILL_INSTANTIATE

}  // namespace proofmill::kernels
