#include "kernels/cuda/grind.h"

#include <algorithm>

#include "kernels/cuda/poseidon2.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::kQuad;
using device::kWidth;
using device::QuadTable;

constexpr uint32_t kThreads = 128;
// Blocks that keep 132 multiprocessors busy; fewer where a hit is expected sooner.
constexpr uint32_t kBlocksMax = 132 * 8;
// 16,896 nonces at a time: what is at work when a hit is found was in vain.
constexpr uint32_t kQuadBlocksMax = 132 * 4;
constexpr uint32_t kQuadBitsMax = 15;

__global__ void ResetNonce(NonceResult* result) { *result = {kNoDeviceNonce, 0}; }

// The first nonce of the next chunk of kNonces, in all threads; at or past the end, or kNoDeviceNonce, when
// there is no more to do. Chunks before the smallest hit are all searched: each was taken by a block that
// then searches it. All threads of the block call it.
template <uint32_t kNonces>
__device__ __forceinline__ uint32_t NextChunk(NonceResult* result) {
  __shared__ uint32_t shared_first;
  if (threadIdx.x == 0) {
    const uint32_t first = atomicAdd(&result->next, kNonces);
    const uint32_t best = *const_cast<volatile uint32_t*>(&result->nonce);
    shared_first = first < best ? first : kNoDeviceNonce;
  }
  __syncthreads();
  const uint32_t first = shared_first;
  __syncthreads();
  return first;
}

__global__ void __launch_bounds__(kThreads)
    SearchNonce(const __grid_constant__ Constants constants, const DeviceSponge* sponge, uint32_t mask,
                uint32_t end, NonceResult* result) {
  if (sponge->failed != 0) return;
  const uint32_t position = sponge->input_count;
  for (;;) {
    const uint32_t first = NextChunk<kThreads>(result);
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

// The same with a nonce in four lanes, for searches that are expected to end soon: what they wait for is a
// single permutation, from beginning to end.
constexpr uint32_t kQuadNonces = kThreads / kQuad;
__global__ void __launch_bounds__(kThreads)
    QuadSearchNonce(const __grid_constant__ Constants constants, const DeviceSponge* sponge, uint32_t mask,
                    uint32_t end, NonceResult* result) {
  __shared__ QuadTable table;
  if (sponge->failed != 0) return;
  device::FillQuadTable(constants, table);
  const uint32_t position = sponge->input_count, lane = threadIdx.x % kQuad;
  uint32_t state[kQuad];
#pragma unroll
  for (uint32_t i = 0; i < kQuad; ++i) state[i] = sponge->state[lane * kQuad + i];
  for (;;) {
    const uint32_t first = NextChunk<kQuadNonces>(result);
    if (first >= end) return;
    const uint32_t nonce = first + threadIdx.x / kQuad;
    const uint32_t word = device::Mul(nonce, kBabyBearR2);
    uint32_t s[kQuad];
#pragma unroll
    for (uint32_t i = 0; i < kQuad; ++i) s[i] = lane * kQuad + i == position ? word : state[i];
    device::QuadPermute(table, s);
    // Word 7 is the last of lane 1.
    if (lane == 1 && nonce < end && (device::Reduce(s[3]) & mask) == 0) atomicMin(&result->nonce, nonce);
  }
}

uint32_t Blocks(uint64_t nonces, uint32_t nonces_each, uint32_t blocks_max) {
  return static_cast<uint32_t>(std::min<uint64_t>((nonces + nonces_each - 1) / nonces_each, blocks_max));
}

}  // namespace

cudaError_t LaunchGrind(const Poseidon2Constants<16>& constants, const DeviceSponge* sponge, uint32_t bits,
                        uint32_t end, NonceResult* result, cudaStream_t stream) {
  ResetNonce<<<1, 1, 0, stream>>>(result);
  const uint64_t likely = uint64_t{2} << bits;  // a hit among so many: 1 - e^-2
  const uint32_t mask = (1u << bits) - 1;
  if (bits <= kQuadBitsMax) {
    QuadSearchNonce<<<Blocks(likely, kQuadNonces, kQuadBlocksMax), kThreads, 0, stream>>>(constants, sponge,
                                                                                          mask, end, result);
  } else {
    SearchNonce<<<Blocks(likely, kThreads, kBlocksMax), kThreads, 0, stream>>>(constants, sponge, mask, end,
                                                                               result);
  }
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
