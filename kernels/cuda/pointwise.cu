#include <algorithm>

#include "kernels/cuda/pointwise.h"

namespace proofmill::kernels {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
constexpr size_t kBlocksMax = 4096;  // enough to fill the device; the loop does the rest

unsigned BlocksFor(size_t n) {
  return static_cast<unsigned>(std::min((n + kThreadsPerBlock - 1) / kThreadsPerBlock, kBlocksMax));
}

// One thread handles elements i, i + stride, i + 2 * stride, ...: neighbouring threads touch neighbouring
// elements, and any n works with any grid. Each element is read and written once; no shared memory.
__global__ void __launch_bounds__(kThreadsPerBlock)
    PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = a[i] * b[i];
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    PointwiseMulSub(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = a[i] * b[i] - c[i];
  }
}

}  // namespace

cudaError_t LaunchPointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;  // a grid of zero blocks is a launch error
  PointwiseMul<<<BlocksFor(n), kThreadsPerBlock, 0, stream>>>(a, b, out, n);
  return cudaGetLastError();
}

cudaError_t LaunchPointwiseMulSub(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n,
                                  cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  PointwiseMulSub<<<BlocksFor(n), kThreadsPerBlock, 0, stream>>>(a, b, c, out, n);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
