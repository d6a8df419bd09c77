#include "kernels/cuda/grind.h"

#include <algorithm>

#include "kernels/cuda/poseidon2.cuh"
#include "kernels/cuda/sponge.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::kSearchThreads;
using device::kWidth;
using device::QuadTable;
using device::SearchBlocks;

constexpr uint32_t kThreads = 128;
// Blocks that keep 132 multiprocessors busy; fewer where a hit is expected sooner.
constexpr uint32_t kBlocksMax = 132 * 8;

__global__ void __launch_bounds__(kThreads)
    SearchNonce(const __grid_constant__ Constants constants, const DeviceSponge* sponge, uint32_t mask,
                uint32_t end, NonceResult* result) {
  if (sponge->failed != 0) return;
  const uint32_t position = sponge->input_count;
  for (;;) {
    const uint32_t first = device::NextChunk<kThreads>(result);
    if (first >= end) return;  // past the field, or past a hit
    const uint32_t nonce = first + threadIdx.x;
    const uint32_t word = device::Mul(nonce, kBabyBearR2);
    uint32_t s[kWidth];
#pragma unroll
    for (uint32_t i = 0; i < kWidth; ++i) s[i] = i == position ? word : sponge->state[i];
    device::Permute(constants, s);
    if (nonce < end && (device::Reduce(s[7]) & mask) == 0) atomicMax(&result->best, ~nonce);
  }
}

__global__ void __launch_bounds__(kSearchThreads)
    QuadSearchNonce(const __grid_constant__ Constants constants, const DeviceSponge* sponge, uint32_t bits,
                    uint32_t end, NonceResult* result) {
  __shared__ QuadTable table;
  device::FillQuadTable(constants, table);
  device::SearchNonce(table, *sponge, bits, end, gridDim.x == 1, result);
}

}  // namespace

cudaError_t LaunchGrind(const Poseidon2Constants<16>& constants, const DeviceSponge* sponge, uint32_t bits,
                        uint32_t end, NonceResult* result, cudaStream_t stream) {
  if (bits <= kStepSearchBitsMax) {
    QuadSearchNonce<<<SearchBlocks(bits), kSearchThreads, 0, stream>>>(constants, sponge, bits, end, result);
    return cudaGetLastError();
  }
  const uint64_t likely = uint64_t{2} << bits;  // a hit among so many: 1 - e^-2
  const auto blocks =
      static_cast<uint32_t>(std::min<uint64_t>((likely + kThreads - 1) / kThreads, kBlocksMax));
  SearchNonce<<<blocks, kThreads, 0, stream>>>(constants, sponge, (1u << bits) - 1, end, result);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
