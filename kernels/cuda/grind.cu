#include "kernels/cuda/grind.h"

#include <algorithm>

#include "kernels/cuda/poseidon2.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::kWidth;

constexpr uint32_t kThreads = 128;
// Blocks that keep 132 multiprocessors busy; fewer where a hit is expected sooner.
constexpr uint32_t kBlocksMax = 132 * 8;

__global__ void ResetNonce(NonceResult* result) { *result = {kNoDeviceNonce, 0}; }

__global__ void __launch_bounds__(kThreads)
    SearchNonce(const __grid_constant__ Constants constants, const DeviceSponge* sponge, uint32_t mask,
                uint32_t end, NonceResult* result) {
  __shared__ uint32_t shared_first;
  if (sponge->failed != 0) return;
  const uint32_t position = sponge->input_count;
  for (;;) {
    if (threadIdx.x == 0) {
      // Chunks before the smallest hit are all searched: each was taken by a block that then searches it.
      const uint32_t first = atomicAdd(&result->next, kThreads);
      const uint32_t best = *const_cast<volatile uint32_t*>(&result->nonce);
      shared_first = first < best ? first : kNoDeviceNonce;
    }
    __syncthreads();
    const uint32_t first = shared_first;
    __syncthreads();
    if (first >= end) return;  // past the field, or past a hit
    const uint32_t nonce = first + threadIdx.x;
    const uint32_t word = device::Mul(nonce, kBabyBearR2);
    uint32_t s[kWidth];
#pragma unroll
    for (uint32_t i = 0; i < kWidth; ++i) s[i] = i == position ? word : sponge->state[i];
    device::Permute(constants, s);
    if (nonce < end && (device::Reduce(s[7]) & mask) == 0) atomicMin(&result->nonce, nonce);
  }
}

}  // namespace

cudaError_t LaunchGrind(const Poseidon2Constants<16>& constants, const DeviceSponge* sponge, uint32_t bits,
                        uint32_t end, NonceResult* result, cudaStream_t stream) {
  ResetNonce<<<1, 1, 0, stream>>>(result);
  const uint64_t likely = uint64_t{2} << bits;  // a hit among so many: 1 - e^-2
  const uint64_t blocks = std::min<uint64_t>((likely + kThreads - 1) / kThreads, kBlocksMax);
  SearchNonce<<<static_cast<uint32_t>(blocks), kThreads, 0, stream>>>(constants, sponge, (1u << bits) - 1,
                                                                      end, result);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
