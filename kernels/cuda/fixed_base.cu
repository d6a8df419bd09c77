#include "kernels/cuda/fixed_base.h"

#include "kernels/cuda/block_inverse.cuh"
#include "kernels/cuda/wide.cuh"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kThreadsPerBlock = 128;

// One thread a scalar: a mixed addition for each digit that is not zero, from a table of 1 to 2 MiB that
// stays in the L2 cache, then one inversion a block. Shared memory: 8 KiB (G1) or 16 KiB (G2).
template <typename F>
__global__ void __launch_bounds__(kThreadsPerBlock, sizeof(F) == 32 ? 4 : 2)
    MultiplyBase(DeviceFixedBase<F> base, const Fr* scalars, uint32_t n, Affine<F>* out) {
  __shared__ device::InverseTree<F, kThreadsPerBlock> tree;
  const uint32_t i = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  // Threads beyond the end take zero: they are needed for the inversion.
  const U256 scalar = i < n ? device::LoadWide(&scalars[i]).ToPlain() : U256{};
  const U256 recoded = base.digits.Recode(scalar);
  Xyzz<F> sum = Xyzz<F>::Infinity();
#pragma unroll 1
  for (uint32_t w = 0; w < base.digits.windows(); ++w) {
    const int32_t digit = base.digits.DigitOfRecoded(recoded, w);
    if (digit == 0) continue;
    const auto magnitude = static_cast<uint32_t>(digit < 0 ? -digit : digit);
    const Affine<F> multiple = device::LoadWide(&base.multiples[w * base.digits.digit_max() + magnitude - 1]);
    sum += digit < 0 ? -multiple : multiple;
  }
  const F zzz_inverse = device::BlockInverse(sum.IsInfinity() ? F::One() : sum.zzz, tree);
  if (i >= n) return;
  const Affine<F> affine{sum.x * (sum.zz * zzz_inverse).Square(), sum.y * zzz_inverse};
  device::StoreWide(&out[i], sum.IsInfinity() ? Affine<F>::Infinity() : affine);
}

}  // namespace

template <typename F>
cudaError_t LaunchFixedBaseMultiply(const DeviceFixedBase<F>& base, const Fr* scalars, uint32_t n,
                                    Affine<F>* out, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const uint32_t blocks = (n - 1) / kThreadsPerBlock + 1;
  MultiplyBase<F><<<blocks, kThreadsPerBlock, 0, stream>>>(base, scalars, n, out);
  return cudaGetLastError();
}

template cudaError_t LaunchFixedBaseMultiply<Fq>(const DeviceFixedBase<Fq>&, const Fr*, uint32_t, Affine<Fq>*,
                                                 cudaStream_t);
template cudaError_t LaunchFixedBaseMultiply<Fq2>(const DeviceFixedBase<Fq2>&, const Fr*, uint32_t,
                                                  Affine<Fq2>*, cudaStream_t);

}  // namespace proofmill::kernels
