// The inverses of one element a thread, for one inversion a block: Montgomery's trick as a product tree.
// Device code only.

#ifndef PROOFMILL_KERNELS_CUDA_BLOCK_INVERSE_CUH_
#define PROOFMILL_KERNELS_CUDA_BLOCK_INVERSE_CUH_

#include <cstdint>

namespace proofmill::kernels::device {

// Node v has children 2v and 2v + 1; leaves are the threads.
template <typename F, uint32_t kThreads>
struct InverseTree {
  static_assert((kThreads & (kThreads - 1)) == 0);
  F nodes[2 * kThreads];
};

// 1 / x. `tree` is in shared memory. REQUIRES: x is not zero in any thread, since one zero makes all inverses
// zero; all kThreads threads of the block call.
template <typename F, uint32_t kThreads>
__device__ __forceinline__ F BlockInverse(const F& x, InverseTree<F, kThreads>& tree) {
  F* const nodes = tree.nodes;
  nodes[kThreads + threadIdx.x] = x;
  __syncthreads();
  for (uint32_t width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) {
      const uint32_t v = width + threadIdx.x;
      nodes[v] = nodes[2 * v] * nodes[2 * v + 1];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) nodes[1] = nodes[1].Inverse();
  __syncthreads();
  for (uint32_t width = 1; width < kThreads; width *= 2) {
    if (threadIdx.x < width) {
      const uint32_t v = width + threadIdx.x;
      const F left = nodes[2 * v];
      nodes[2 * v] = nodes[v] * nodes[2 * v + 1];
      nodes[2 * v + 1] = nodes[v] * left;
    }
    __syncthreads();
  }
  return nodes[kThreads + threadIdx.x];
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_BLOCK_INVERSE_CUH_
