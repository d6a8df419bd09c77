// The eq polynomial at a vertex of the hypercube. Device code only.

#ifndef PROOFMILL_KERNELS_CUDA_EQ_CUH_
#define PROOFMILL_KERNELS_CUDA_EQ_CUH_

#include <cstdint>

#include "kernels/cuda/babybear.cuh"

namespace proofmill::kernels::device {

// The product over `count` coordinates of p b + (1 - p)(1 - b), the last coordinate being bit 0 of b.
template <int kD>
__device__ Ext<kD> EqAt(const uint32_t* point, uint32_t count, uint32_t b) {
  Ext<kD> out = ExtOne<kD>();
  for (uint32_t i = 0; i < count; ++i) {
    const Ext<kD> p = LoadExt<kD>(point + i * kD);
    const bool set = (b >> (count - 1 - i) & 1) != 0;
    out = out * (set ? p : ExtOne<kD>() - p);
  }
  return out;
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_EQ_CUH_
