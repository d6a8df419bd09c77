// The steps of a round of sumcheck in the transcript. Device code only.

#ifndef PROOFMILL_KERNELS_CUDA_ROUND_CUH_
#define PROOFMILL_KERNELS_CUDA_ROUND_CUH_

#include <cstdint>

#include "kernels/cuda/babybear.cuh"
#include "kernels/cuda/sponge.cuh"
#include "kernels/cuda/transcript.h"

namespace proofmill::kernels::device {

// h(r) of the quadratic through (0, h0), (1, sum - h0) and (2, h2).
template <int kD>
__device__ Ext<kD> QuadraticAt(const Ext<kD>& h0, const Ext<kD>& sum, const Ext<kD>& h2, const Ext<kD>& r) {
  constexpr uint32_t kHalf = BabyBear::FromCanonical((kBabyBearP + 1) / 2).montgomery();
  const Ext<kD> one = ExtOne<kD>(), two = one + one;
  const Ext<kD> outer = h0 * ((r - one) * (r - two)) + h2 * (r * (r - one));
  return Scale(outer, kHalf) + (sum - h0) * (r * (two - r));
}

template <int kD>
__device__ void Challenge(WarpSponge& sponge, const SumcheckStep<kD>& step) {
  const Ext<kD> r = sponge.SampleExt<kD>();
  const Ext<kD> h0 = LoadExt<kD>(step.evaluations), h2 = LoadExt<kD>(step.evaluations + kD);
  const Ext<kD> sum = QuadraticAt(h0, LoadExt<kD>(step.sum), h2, r);
  __syncwarp();
  if (threadIdx.x == 0) {
    StoreExt(step.challenge, r);
    StoreExt(step.sum, sum);
  }
}

// Adds up h(0) and h(2): in every thread of the first warp. All threads of the block call it.
template <uint32_t kBlockThreads, int kD>
__device__ __forceinline__ void AddPartials(const SumcheckStep<kD>& step, uint32_t (&words)[2 * kD]) {
  for (uint32_t i = threadIdx.x; i < step.partial_count; i += kBlockThreads) {
#pragma unroll
    for (int k = 0; k < 2 * kD; ++k) words[k] = Add(words[k], step.partials[uint64_t{i} * (2 * kD) + k]);
  }
  BlockSum<kBlockThreads>(words);
}
template <int kD>
__device__ __forceinline__ void ObserveEvaluations(WarpSponge& sponge, const uint32_t (&words)[2 * kD]) {
#pragma unroll
  for (int k = 0; k < 2 * kD; ++k) sponge.Observe(words[k]);
}
template <int kD>
__device__ __forceinline__ void StoreEvaluations(const uint32_t (&words)[2 * kD], uint32_t* out) {
#pragma unroll
  for (int k = 0; k < 2 * kD; ++k) {
    if (threadIdx.x == 0) out[k] = words[k];
  }
  __syncwarp();
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_ROUND_CUH_
