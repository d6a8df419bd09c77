// Rounds: sums and folds. Weights and evaluations are in weights.cu.

#include "kernels/cuda/sumcheck.h"

#include <algorithm>

#include "kernels/cuda/babybear.cuh"
#include "kernels/cuda/poseidon2.cuh"
#include "kernels/cuda/round.cuh"
#include "kernels/cuda/sponge.cuh"

namespace proofmill::kernels {
namespace {

using device::Constants;
using device::Ext;
using device::Factor;
using device::kSearchThreads;
using device::QuadTable;
using device::Reduce;
using device::Shorten;
using device::WarpSponge;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kBlocksMax = 132 * 8;
static_assert(kBlocksMax <= kPartialSumsMax);

// A sum of products of elements, by powers of X, before X^kD is replaced.
template <int kD>
class ProductSum {
 public:
  __device__ __forceinline__ void Add(const Ext<kD>& a, const Ext<kD>& b) {
#pragma unroll
    for (int i = 0; i < kD; ++i) {
#pragma unroll
      for (int j = 0; j < kD; ++j) {
        uint64_t& sum = sums_[i + j];
        sum += uint64_t{a.c[i]} * b.c[j];
        // Two products fit between two shortenings.
        if (i % 2 == 1) sum = Shorten(sum);
      }
    }
#pragma unroll
    for (int k = 0; k < 2 * kD - 1; ++k) sums_[k] = Shorten(sums_[k]);
  }
  __device__ __forceinline__ Ext<kD> Value() const {
    Ext<kD> out;
#pragma unroll
    for (int k = 0; k < kD; ++k) {
      out.c[k] = Reduce(sums_[k]);
      if (k + kD < 2 * kD - 1) {
        const uint32_t high = device::Mul(Reduce(sums_[k + kD]), device::kNonResidueWord<kD>);
        out.c[k] = device::Add(out.c[k], high);
      }
    }
    return out;
  }

 private:
  uint64_t sums_[2 * kD - 1] = {};
};
// The same where one side is of base elements.
template <int kD>
class ScaledSum {
 public:
  __device__ __forceinline__ void Add(uint32_t a, const Ext<kD>& b) {
#pragma unroll
    for (int k = 0; k < kD; ++k) sums_[k] = Shorten(sums_[k] + uint64_t{a} * b.c[k]);
  }
  __device__ __forceinline__ Ext<kD> Value() const {
    Ext<kD> out;
#pragma unroll
    for (int k = 0; k < kD; ++k) out.c[k] = Reduce(sums_[k]);
    return out;
  }

 private:
  uint64_t sums_[kD] = {};
};

__device__ __forceinline__ uint32_t AtTwo(uint32_t low, uint32_t high) {
  return device::Sub(device::Double(high), low);
}
template <int kD>
__device__ __forceinline__ Ext<kD> AtTwo(const Ext<kD>& low, const Ext<kD>& high) {
  return high + high - low;
}

// How f is read: as base elements or as elements of the extension.
template <int kD>
struct BaseElements {
  using Value = uint32_t;
  using Sum = ScaledSum<kD>;
  static __device__ __forceinline__ Value Load(const DeviceVectorView& f, uint64_t i) { return f.data[i]; }
  static __device__ __forceinline__ Ext<kD> Fold(Value low, Value high, const Ext<kD>& r, const Factor<kD>&) {
    Ext<kD> out = device::Scale(r, device::Sub(high, low));
    out.c[0] = device::Add(out.c[0], low);
    return out;
  }
};
template <int kD>
struct ExtElements {
  using Value = Ext<kD>;
  using Sum = ProductSum<kD>;
  static __device__ __forceinline__ Value Load(const DeviceVectorView& f, uint64_t i) {
    return device::LoadPlanes<kD>(f.data, f.stride, i);
  }
  static __device__ __forceinline__ Ext<kD> Fold(const Value& low, const Value& high, const Ext<kD>&,
                                                 const Factor<kD>& r) {
    return low + (high - low) * r;
  }
};

// The round, by the last block. words: its sums, in the first warp. Not inlined, as many kernels end so.
template <int kD>
__device__ __noinline__ void EndRound(const Constants& constants, const RoundEnd<kD>& end,
                                      uint32_t (&words)[2 * kD]) {
  __shared__ QuadTable table;
  __shared__ DeviceSponge observed;
  if (gridDim.x > 1) {
    if (!device::IsLastBlock(end.arrived)) return;
#pragma unroll
    for (int k = 0; k < 2 * kD; ++k) words[k] = 0;
    device::AddPartials<kThreads>(end.step, words);
    if (threadIdx.x == 0) *end.arrived = 0;
  }
  device::FillQuadTable(constants, table);
  if (threadIdx.x >= kSearchThreads) return;
  if (threadIdx.x < 32) {
    WarpSponge sponge(table, end.sponge);
    device::ObserveEvaluations<kD>(sponge, words);
    device::StoreEvaluations<kD>(words, end.step.evaluations);
    sponge.Save(&observed);
  }
  const NonceStep& pow = end.step.pow;
  if (pow.search_bits != 0) {
    __syncthreads();
    device::SearchNonce(table, observed, pow.search_bits, pow.search_end, true, pow.found);
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  __syncwarp();
  WarpSponge sponge(table, &observed);
  if (pow.search_bits != 0) sponge.TakeNonce(pow);
  device::Challenge(sponge, end.step);
  sponge.Save(end.sponge);
}

// Adds up what the threads of the block have summed, for the round or for a launch that adds up the blocks.
template <int kD>
__device__ __forceinline__ void EndSums(const Ext<kD>& h0, const Ext<kD>& h2, const Constants& constants,
                                        const RoundEnd<kD>& end, uint32_t* partials) {
  uint32_t words[2 * kD];
#pragma unroll
  for (int k = 0; k < kD; ++k) {
    words[k] = h0.c[k];
    words[kD + k] = h2.c[k];
  }
  device::BlockSum<kThreads>(words);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int k = 0; k < 2 * kD; ++k) partials[uint64_t{blockIdx.x} * (2 * kD) + k] = words[k];
  }
  if (end.sponge != nullptr) EndRound<kD>(constants, end, words);
}

template <int kD, template <int> typename Elements>
__global__ void __launch_bounds__(kThreads)
    RoundSums(const __grid_constant__ Constants constants, DeviceVectorView f, DevicePlanes w, uint64_t half,
              uint32_t* partials, const __grid_constant__ RoundEnd<kD> end) {
  using F = Elements<kD>;
  typename F::Sum h0, h2;
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < half; i += gridDim.x * kThreads) {
    const auto f_low = F::Load(f, i), f_high = F::Load(f, i + half);
    const Ext<kD> w_low = device::LoadPlanes<kD>(w.data, w.stride, i);
    const Ext<kD> w_high = device::LoadPlanes<kD>(w.data, w.stride, i + half);
    h0.Add(f_low, w_low);
    h2.Add(AtTwo(f_low, f_high), AtTwo(w_low, w_high));
  }
  EndSums<kD>(h0.Value(), h2.Value(), constants, end, partials);
}

template <int kD, template <int> typename Elements>
__global__ void __launch_bounds__(kThreads)
    FoldVectors(DeviceVectorView f, DevicePlanes f_out, DevicePlanes w, uint64_t half,
                const uint32_t* challenge) {
  using F = Elements<kD>;
  const Ext<kD> r = device::LoadExt<kD>(challenge);
  const Factor<kD> factor = device::MakeFactor(r);
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < half; i += gridDim.x * kThreads) {
    const Ext<kD> f_new = F::Fold(F::Load(f, i), F::Load(f, i + half), r, factor);
    const Ext<kD> low = device::LoadPlanes<kD>(w.data, w.stride, i);
    const Ext<kD> high = device::LoadPlanes<kD>(w.data, w.stride, i + half);
    device::StorePlanes(f_out.data, f_out.stride, i, f_new);
    device::StorePlanes(w.data, w.stride, i, low + (high - low) * factor);
  }
}

// Both in one pass: a thread folds to elements i and i + quarter, which are a pair of the next round.
template <int kD, template <int> typename Elements>
__global__ void __launch_bounds__(kThreads)
    FoldAndSum(const __grid_constant__ Constants constants, DeviceVectorView f, DevicePlanes f_out,
               DevicePlanes w, uint64_t half, const uint32_t* challenge, uint32_t* partials,
               const __grid_constant__ RoundEnd<kD> end) {
  using F = Elements<kD>;
  const Ext<kD> r = device::LoadExt<kD>(challenge);
  const Factor<kD> factor = device::MakeFactor(r);
  const uint64_t quarter = half / 2;
  ProductSum<kD> h0, h2;
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < quarter; i += gridDim.x * kThreads) {
    Ext<kD> f_new[2], w_new[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint64_t at = i + static_cast<uint64_t>(k) * quarter;
      f_new[k] = F::Fold(F::Load(f, at), F::Load(f, at + half), r, factor);
      const Ext<kD> low = device::LoadPlanes<kD>(w.data, w.stride, at);
      const Ext<kD> high = device::LoadPlanes<kD>(w.data, w.stride, at + half);
      w_new[k] = low + (high - low) * factor;
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint64_t at = i + static_cast<uint64_t>(k) * quarter;
      device::StorePlanes(f_out.data, f_out.stride, at, f_new[k]);
      device::StorePlanes(w.data, w.stride, at, w_new[k]);
    }
    h0.Add(f_new[0], w_new[0]);
    h2.Add(AtTwo(f_new[0], f_new[1]), AtTwo(w_new[0], w_new[1]));
  }
  EndSums<kD>(h0.Value(), h2.Value(), constants, end, partials);
}

template <int kD>
__global__ void __launch_bounds__(kThreads) Interleave(DevicePlanes f, uint64_t size, uint32_t* out) {
  const uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < size) device::StoreExt(out + i * kD, device::LoadPlanes<kD>(f.data, f.stride, i));
}

uint32_t Blocks(uint64_t n) {
  return static_cast<uint32_t>(std::min<uint64_t>((n + kThreads - 1) / kThreads, kBlocksMax));
}

}  // namespace

template <int kDegree>
cudaError_t LaunchRoundSums(const Poseidon2Constants<16>& constants, const DeviceVectorView& f,
                            DevicePlanes w, uint64_t half, uint32_t* partials, uint32_t* partial_count,
                            RoundEnd<kDegree> end, cudaStream_t stream) {
  const uint32_t blocks = Blocks(half);
  *partial_count = blocks;
  end.step.partials = partials;
  end.step.partial_count = blocks;
  if (f.extension) {
    RoundSums<kDegree, ExtElements><<<blocks, kThreads, 0, stream>>>(constants, f, w, half, partials, end);
  } else {
    RoundSums<kDegree, BaseElements><<<blocks, kThreads, 0, stream>>>(constants, f, w, half, partials, end);
  }
  return cudaGetLastError();
}

template <int kDegree>
cudaError_t LaunchFold(const DeviceVectorView& f, DevicePlanes f_out, DevicePlanes w, uint64_t half,
                       const uint32_t* challenge, cudaStream_t stream) {
  const uint32_t blocks = Blocks(half);
  if (f.extension) {
    FoldVectors<kDegree, ExtElements><<<blocks, kThreads, 0, stream>>>(f, f_out, w, half, challenge);
  } else {
    FoldVectors<kDegree, BaseElements><<<blocks, kThreads, 0, stream>>>(f, f_out, w, half, challenge);
  }
  return cudaGetLastError();
}

template <int kDegree>
cudaError_t LaunchFoldAndSum(const Poseidon2Constants<16>& constants, const DeviceVectorView& f,
                             DevicePlanes f_out, DevicePlanes w, uint64_t half, const uint32_t* challenge,
                             uint32_t* partials, uint32_t* partial_count, RoundEnd<kDegree> end,
                             cudaStream_t stream) {
  const uint32_t blocks = Blocks(half / 2);
  *partial_count = blocks;
  end.step.partials = partials;
  end.step.partial_count = blocks;
  if (f.extension) {
    FoldAndSum<kDegree, ExtElements>
        <<<blocks, kThreads, 0, stream>>>(constants, f, f_out, w, half, challenge, partials, end);
  } else {
    FoldAndSum<kDegree, BaseElements>
        <<<blocks, kThreads, 0, stream>>>(constants, f, f_out, w, half, challenge, partials, end);
  }
  return cudaGetLastError();
}

template <int kDegree>
cudaError_t LaunchInterleave(DevicePlanes f, uint64_t size, uint32_t* out, cudaStream_t stream) {
  Interleave<kDegree>
      <<<static_cast<uint32_t>((size + kThreads - 1) / kThreads), kThreads, 0, stream>>>(f, size, out);
  return cudaGetLastError();
}

#define PROOFMILL_INSTANTIATE(D)                                                                             \
  template cudaError_t LaunchRoundSums<D>(const Poseidon2Constants<16>&, const DeviceVectorView&,            \
                                          DevicePlanes, uint64_t, uint32_t*, uint32_t*, RoundEnd<D>,         \
                                          cudaStream_t);                                                     \
  template cudaError_t LaunchFold<D>(const DeviceVectorView&, DevicePlanes, DevicePlanes, uint64_t,          \
                                     const uint32_t*, cudaStream_t);                                         \
  template cudaError_t LaunchFoldAndSum<D>(const Poseidon2Constants<16>&, const DeviceVectorView&,           \
                                           DevicePlanes, DevicePlanes, uint64_t, const uint32_t*, uint32_t*, \
                                           uint32_t*, RoundEnd<D>, cudaStream_t);                            \
  template cudaError_t LaunchInterleave<D>(DevicePlanes, uint64_t, uint32_t*, cudaStream_t)
PROOFMILL_INSTANTIATE(4);
PROOFMILL_INSTANTIATE(5);
#undef PROOFMILL_INSTANTIATE

}  // namespace proofmill::kernels
