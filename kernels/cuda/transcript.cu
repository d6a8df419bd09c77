#include "kernels/cuda/transcript.h"

#include "kernels/cuda/babybear.cuh"
#include "kernels/cuda/poseidon2.cuh"
#include "kernels/cuda/round.cuh"
#include "kernels/cuda/sponge.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::Ext;
using device::kSearchThreads;
using device::LoadExt;
using device::QuadTable;
using device::SearchBlocks;
using device::StoreExt;
using device::WarpSponge;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kIndexBitsMax = 20;  // as engine/whir/transcript.cc has it

template <int kD>
__global__ void __launch_bounds__(32)
    ObserveWords(const __grid_constant__ Constants constants, DeviceSponge* memory, const uint32_t* words,
                 uint32_t count, uint32_t* copy, uint32_t* point, uint32_t n) {
  __shared__ QuadTable table;
  device::FillQuadTable(constants, table);
  WarpSponge sponge(table, memory);
  for (uint32_t first = 0; first < count; first += 32) {  // one access for 32 words
    const uint32_t i = first + threadIdx.x, here = min(count - first, 32u);
    const uint32_t mine = words[min(i, count - 1)];
    if (i < count) copy[i] = mine;
    for (uint32_t j = 0; j < here; ++j)
      sponge.Observe(__shfl_sync(device::kAllLanes, mine, static_cast<int>(j)));
  }
  if (point != nullptr) sponge.SamplePoint<kD>(n, point);
  sponge.Save(memory);
}

// A whole round. All blocks observe the same; then they search for the nonce together, and the last one to
// end goes on.
template <int kD>
__global__ void __launch_bounds__(kSearchThreads)
    WholeRound(const __grid_constant__ Constants constants, DeviceSponge* memory,
               const __grid_constant__ SumcheckStep<kD> step) {
  __shared__ QuadTable table;
  __shared__ DeviceSponge observed;
  device::FillQuadTable(constants, table);
  uint32_t words[2 * kD] = {};
  device::AddPartials<kSearchThreads>(step, words);
  if (threadIdx.x < 32) {
    WarpSponge sponge(table, memory);
    device::ObserveEvaluations<kD>(sponge, words);
    sponge.Save(&observed);
  }
  __syncthreads();
  const NonceStep& pow = step.pow;
  if (pow.search_bits != 0) {
    device::SearchNonce(table, observed, pow.search_bits, pow.search_end, gridDim.x == 1, pow.found);
    if (!device::IsLastBlock(&pow.found->blocks)) return;
  }
  if (threadIdx.x >= 32) return;
  device::StoreEvaluations<kD>(words, step.evaluations);
  WarpSponge sponge(table, &observed);
  if (pow.search_bits != 0) sponge.TakeNonce(pow);
  device::Challenge(sponge, step);
  sponge.Save(memory);
}

template <int kD>
__global__ void __launch_bounds__(kThreads)
    ObserveRound(const __grid_constant__ Constants constants, DeviceSponge* memory,
                 const __grid_constant__ SumcheckStep<kD> step) {
  __shared__ QuadTable table;
  device::FillQuadTable(constants, table);
  uint32_t words[2 * kD] = {};
  device::AddPartials<kThreads>(step, words);
  if (threadIdx.x >= 32) return;
  WarpSponge sponge(table, memory);
  device::ObserveEvaluations<kD>(sponge, words);
  device::StoreEvaluations<kD>(words, step.evaluations);
  sponge.Save(memory);
}

template <int kD>
__global__ void __launch_bounds__(32)
    ChallengeRound(const __grid_constant__ Constants constants, DeviceSponge* memory,
                   const __grid_constant__ SumcheckStep<kD> step) {
  __shared__ QuadTable table;
  device::FillQuadTable(constants, table);
  WarpSponge sponge(table, memory);
  sponge.TakeNonce(step.pow);
  device::Challenge(sponge, step);
  sponge.Save(memory);
}

__device__ void DrawPositions(WarpSponge& sponge, const QueryStep& step, uint32_t* out) {
  uint32_t group = 1;
  if (uint64_t{step.queries} * step.bits <= kIndexBitsMax) {
    group = step.queries;
  } else if (kIndexBitsMax / step.bits >= 2) {
    group = kIndexBitsMax / step.bits;
  }
  for (uint32_t done = 0; done < step.queries;) {
    const uint32_t here = min(group, step.queries - done);
    uint32_t value = sponge.SampleBits(here * step.bits);
    for (uint32_t i = 0; i < here; ++i, value >>= step.bits) out[done + i] = value & ((1u << step.bits) - 1);
    done += here;
  }
}

__global__ void __launch_bounds__(kSearchThreads)
    DrawQueries(const __grid_constant__ Constants constants, DeviceSponge* memory,
                const __grid_constant__ QueryStep step) {
  __shared__ QuadTable table;
  __shared__ uint32_t distinct;
  device::FillQuadTable(constants, table);
  const NonceStep& pow = step.pow;
  if (pow.search_bits != 0) {
    device::SearchNonce(table, *memory, pow.search_bits, pow.search_end, gridDim.x == 1, pow.found);
    if (!device::IsLastBlock(&pow.found->blocks)) return;
  }
  uint32_t* const drawn = step.scratch;
  uint32_t* const is_first = step.scratch + step.queries;
  if (threadIdx.x < 32) {
    WarpSponge sponge(table, memory);
    if (pow.found != nullptr) sponge.TakeNonce(pow);
    if (step.checkpoint) sponge.Sample();
    DrawPositions(sponge, step, drawn);
    sponge.Save(memory);
  }
  if (threadIdx.x == 0) distinct = 0;
  __syncthreads();
  // There are few: each position looks at all others.
  for (uint32_t i = threadIdx.x; i < step.queries; i += kSearchThreads) {
    uint32_t first = 1;
    for (uint32_t j = 0; j < i; ++j) first &= drawn[j] != drawn[i] ? 1u : 0u;
    is_first[i] = first;
    if (first != 0) atomicAdd(&distinct, 1u);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < step.queries; i += kSearchThreads) {
    if (is_first[i] == 0) continue;
    uint32_t place = 0;
    for (uint32_t j = 0; j < step.queries; ++j) place += drawn[j] < drawn[i] ? is_first[j] : 0;
    step.positions[place] = drawn[i];
  }
  if (threadIdx.x == 0) *step.count = distinct;
}

template <int kD>
__global__ void __launch_bounds__(kThreads)
    CombineTerms(const __grid_constant__ Constants constants, DeviceSponge* memory,
                 const __grid_constant__ CombineStep step) {
  __shared__ QuadTable table;
  __shared__ uint32_t shared_gamma[kD];
  device::FillQuadTable(constants, table);
  if (threadIdx.x < 32) {
    WarpSponge sponge(table, memory);
    const Ext<kD> sampled = sponge.SampleExt<kD>();
    if (threadIdx.x == 0) StoreExt(shared_gamma, sampled);
    sponge.Save(memory);
  }
  __syncthreads();
  const Ext<kD> gamma = LoadExt<kD>(shared_gamma);
  const uint32_t count = step.eq_count + step.power_count;
  const uint32_t used = step.eq_count + (step.power_count == 0 ? 0 : *step.power_count_used);
  Ext<kD> sum = {}, power = device::Power(gamma, threadIdx.x);
  const Ext<kD> stride = device::Power(gamma, kThreads);
  for (uint32_t j = threadIdx.x; j < count; j += kThreads, power = power * stride) {
    const Ext<kD> coefficient = j < used ? power : Ext<kD>{};
    StoreExt(step.coefficients + uint64_t{j} * kD, coefficient);
    if (j < used) sum = sum + coefficient * LoadExt<kD>(step.values + uint64_t{j} * kD);
  }
  device::BlockSum<kThreads>(sum.c);
  if (threadIdx.x != 0) return;
  StoreExt(step.sum, step.overwrite ? sum : sum + LoadExt<kD>(step.sum));
}

}  // namespace

template <int kDegree>
cudaError_t LaunchObserve(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                          const uint32_t* words, uint32_t count, uint32_t* copy, uint32_t* point, uint32_t n,
                          cudaStream_t stream) {
  ObserveWords<kDegree><<<1, 32, 0, stream>>>(constants, sponge, words, count, copy, point, n);
  return cudaGetLastError();
}
template <int kDegree>
cudaError_t LaunchSumcheckRound(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                                const SumcheckStep<kDegree>& step, cudaStream_t stream) {
  WholeRound<kDegree>
      <<<SearchBlocks(step.pow.search_bits), kSearchThreads, 0, stream>>>(constants, sponge, step);
  return cudaGetLastError();
}
template <int kDegree>
cudaError_t LaunchSumcheckObserve(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                                  const SumcheckStep<kDegree>& step, cudaStream_t stream) {
  ObserveRound<kDegree><<<1, kThreads, 0, stream>>>(constants, sponge, step);
  return cudaGetLastError();
}
template <int kDegree>
cudaError_t LaunchSumcheckChallenge(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                                    const SumcheckStep<kDegree>& step, cudaStream_t stream) {
  ChallengeRound<kDegree><<<1, 32, 0, stream>>>(constants, sponge, step);
  return cudaGetLastError();
}
cudaError_t LaunchQueries(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                          const QueryStep& step, cudaStream_t stream) {
  DrawQueries<<<SearchBlocks(step.pow.search_bits), kSearchThreads, 0, stream>>>(constants, sponge, step);
  return cudaGetLastError();
}
template <int kDegree>
cudaError_t LaunchCombine(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                          const CombineStep& step, cudaStream_t stream) {
  CombineTerms<kDegree><<<1, kThreads, 0, stream>>>(constants, sponge, step);
  return cudaGetLastError();
}

#define PROOFMILL_INSTANTIATE(D)                                                                          \
  template cudaError_t LaunchObserve<D>(const Poseidon2Constants<16>&, DeviceSponge*, const uint32_t*,    \
                                        uint32_t, uint32_t*, uint32_t*, uint32_t, cudaStream_t);          \
  template cudaError_t LaunchSumcheckRound<D>(const Poseidon2Constants<16>&, DeviceSponge*,               \
                                              const SumcheckStep<D>&, cudaStream_t);                      \
  template cudaError_t LaunchSumcheckObserve<D>(const Poseidon2Constants<16>&, DeviceSponge*,             \
                                                const SumcheckStep<D>&, cudaStream_t);                    \
  template cudaError_t LaunchSumcheckChallenge<D>(const Poseidon2Constants<16>&, DeviceSponge*,           \
                                                  const SumcheckStep<D>&, cudaStream_t);                  \
  template cudaError_t LaunchCombine<D>(const Poseidon2Constants<16>&, DeviceSponge*, const CombineStep&, \
                                        cudaStream_t)
PROOFMILL_INSTANTIATE(4);
PROOFMILL_INSTANTIATE(5);
#undef PROOFMILL_INSTANTIATE

}  // namespace proofmill::kernels
