// The duplex sponge in a warp, and the search for a nonce by the blocks of a grid. Device code only.

#ifndef PROOFMILL_KERNELS_CUDA_SPONGE_CUH_
#define PROOFMILL_KERNELS_CUDA_SPONGE_CUH_

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/babybear.cuh"
#include "kernels/cuda/poseidon2.cuh"
#include "kernels/cuda/transcript.h"

namespace proofmill::kernels::device {

// Whether all other blocks of the grid have come here; then this one sees what they wrote. All threads of the
// block call it, once; *arrived is zero before, and to be set to zero again after.
__device__ __forceinline__ bool IsLastBlock(uint32_t* arrived) {
  __shared__ bool last;
  __syncthreads();
  if (gridDim.x * gridDim.y == 1) return true;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1u) + 1 == gridDim.x * gridDim.y;
    __threadfence();
  }
  __syncthreads();
  return last;
}

__device__ __forceinline__ uint32_t ReadNonce(const NonceResult& result) {
  return ~*const_cast<const volatile uint32_t*>(&result.best);
}

// The first nonce of the next chunk of kNonces, in all threads; at or past the end, or kNoDeviceNonce, when
// there is no more to do. Chunks before the smallest hit are all searched: each was taken by a block that
// then searches it. All threads of the block call it.
template <uint32_t kNonces>
__device__ __forceinline__ uint32_t NextChunk(NonceResult* result) {
  __shared__ uint32_t shared_first;
  if (threadIdx.x == 0) {
    const uint32_t first = atomicAdd(&result->next, kNonces);
    shared_first = first < ReadNonce(*result) ? first : kNoDeviceNonce;
  }
  __syncthreads();
  const uint32_t first = shared_first;
  __syncthreads();
  return first;
}

// A nonce in four lanes, for searches that are expected to end soon: what they wait for is a single
// permutation, from beginning to end.
inline constexpr uint32_t kSearchThreads = 128;
inline constexpr uint32_t kSearchNonces = kSearchThreads / kQuad;  // of a block at a time
// 16,896 nonces at a time: what is at work when a hit is found was in vain.
inline constexpr uint32_t kSearchBlocksMax = 132 * 4;
// Blocks for nonces of so many bits; one for none.
inline uint32_t SearchBlocks(uint32_t bits) {
  const uint64_t likely = uint64_t{2} << bits;  // a hit among so many: 1 - e^-2
  return static_cast<uint32_t>(
      std::min<uint64_t>((likely + kSearchNonces - 1) / kSearchNonces, kSearchBlocksMax));
}
// All kSearchThreads threads of the block call it. A block that searches alone keeps no count in memory.
__device__ __forceinline__ void SearchNonce(const QuadTable& table, const DeviceSponge& sponge, uint32_t bits,
                                            uint32_t end, bool alone, NonceResult* result) {
  __shared__ uint32_t hit;
  if (sponge.failed != 0) return;
  const uint32_t mask = (1u << bits) - 1;
  const uint32_t position = sponge.input_count, lane = threadIdx.x % kQuad;
  uint32_t state[kQuad];
#pragma unroll
  for (uint32_t i = 0; i < kQuad; ++i) state[i] = sponge.state[lane * kQuad + i];
  if (threadIdx.x == 0) hit = kNoDeviceNonce;
  for (uint32_t done = 0;; done += kSearchNonces) {
    const uint32_t first = alone ? done : NextChunk<kSearchNonces>(result);
    if (first >= end) return;  // past the field, or past a hit
    const uint32_t nonce = first + threadIdx.x / kQuad;
    const uint32_t word = Mul(nonce, kBabyBearR2);
    uint32_t s[kQuad];
#pragma unroll
    for (uint32_t i = 0; i < kQuad; ++i) s[i] = lane * kQuad + i == position ? word : state[i];
    QuadPermute(table, s);
    __syncthreads();
    // Word 7 is the last of lane 1.
    if (lane == 1 && nonce < end && (Reduce(s[3]) & mask) == 0) atomicMin(&hit, nonce);
    __syncthreads();
    if (hit == kNoDeviceNonce) continue;
    if (threadIdx.x == 0) atomicMax(&result->best, ~hit);
    return;  // the block's other chunks would be later ones
  }
}

// The word of a state in four lanes that is SpreadWord(): quad i of four takes the i-th of each lane.
__device__ __forceinline__ uint32_t Spread(const uint4& words) {
  const uint32_t quad = threadIdx.x / kQuad % kQuad;
  return quad < 2 ? (quad == 0 ? words.x : words.y) : (quad == 2 ? words.z : words.w);
}
// Permutes a state that all quads of a warp hold. Not inlined where it is called, as a kernel calls it in
// many places; words go by value, in registers.
__device__ __noinline__ inline uint4 Permuted(const QuadTable& table, uint4 words) {
  uint32_t s = Spread(words);
  SpreadPermute(table, s);
  const auto first = static_cast<int>(threadIdx.x % kQuad);
  return {__shfl_sync(kAllLanes, s, first), __shfl_sync(kAllLanes, s, first + 4),
          __shfl_sync(kAllLanes, s, first + 8), __shfl_sync(kAllLanes, s, first + 12)};
}

// The sponge in one warp: each four lanes hold all of it, words 4q .. 4q + 3 in lane q of them. All lanes
// call everything, with the same arguments.
class WarpSponge {
 public:
  __device__ __forceinline__ WarpSponge(const QuadTable& table, const DeviceSponge* memory)
      : table_(table),
        lane_(threadIdx.x % kQuad),
        inputs_(memory->input_count),
        outputs_(memory->output_count),
        failed_(memory->failed) {
#pragma unroll
    for (uint32_t i = 0; i < kQuad; ++i) s_[i] = memory->state[lane_ * kQuad + i];
    Offer();
  }

  __device__ __forceinline__ void Save(DeviceSponge* memory) const {
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < kQuad; ++i) memory->state[lane_ * kQuad + i] = s_[i];
    memory->input_count = inputs_;
    memory->output_count = outputs_;
    memory->failed = failed_;
  }

  __device__ __forceinline__ void Observe(uint32_t x) {
#pragma unroll
    for (uint32_t i = 0; i < kQuad; ++i) s_[i] = lane_ * kQuad + i == inputs_ ? x : s_[i];
    outputs_ = 0;
    if (++inputs_ == kRate) Duplex();
  }
  __device__ __forceinline__ uint32_t Sample() {
    if (inputs_ > 0 || outputs_ == 0) Duplex();
    --outputs_;
    // In lane q of the four lanes i the word on offer is 4q + i.
    return __shfl_sync(kAllLanes, offered_, static_cast<int>(outputs_ % kQuad * kQuad + outputs_ / kQuad));
  }
  template <int kD>
  __device__ __forceinline__ Ext<kD> SampleExt() {
    Ext<kD> out;
#pragma unroll
    for (int i = 0; i < kD; ++i) out.c[i] = Sample();
    return out;
  }
  // Samples z and writes (z^(2^(n-1)), .., z^2, z).
  template <int kD>
  __device__ __forceinline__ void SamplePoint(uint32_t n, uint32_t* out) {
    Ext<kD> z = SampleExt<kD>();
    for (uint32_t i = n; i-- > 0; z = z * z) {
      if (threadIdx.x == 0) StoreExt(out + uint64_t{i} * kD, z);
    }
  }
  __device__ __forceinline__ uint32_t SampleBits(uint32_t bits) {
    return static_cast<uint32_t>(Reduce(Sample()) & ((uint64_t{1} << bits) - 1));
  }
  __device__ __forceinline__ void TakeNonce(const NonceStep& step) {
    const uint32_t nonce = ReadNonce(*step.found);
    if (nonce == kNoDeviceNonce) failed_ = 1;
    const uint32_t word = nonce == kNoDeviceNonce ? 0 : Mul(nonce, kBabyBearR2);
    __syncwarp();
    if (threadIdx.x == 0) {
      *step.copy = word;
      *step.found = {};
    }
    Observe(word);
    Sample();
  }

 private:
  __device__ __forceinline__ void Duplex() {
    const uint4 words = Permuted(table_, {s_[0], s_[1], s_[2], s_[3]});
    s_[0] = words.x;
    s_[1] = words.y;
    s_[2] = words.z;
    s_[3] = words.w;
    Offer();
    inputs_ = 0;
    outputs_ = kRate;
  }
  // Chooses the word that this lane has for Sample().
  __device__ __forceinline__ void Offer() { offered_ = Spread({s_[0], s_[1], s_[2], s_[3]}); }

  const QuadTable& table_;
  const uint32_t lane_;
  uint32_t s_[kQuad];
  uint32_t offered_;
  uint32_t inputs_, outputs_, failed_;
};

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_SPONGE_CUH_
