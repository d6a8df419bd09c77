#include "tests/engine/backend/cuda/trap.h"

namespace proofmill::engine {
namespace {

__global__ void Trap() { __trap(); }

}  // namespace

cudaError_t TrapDevice(int device) {
  const cudaError_t set = cudaSetDevice(device);
  if (set != cudaSuccess) return set;
  Trap<<<1, 1>>>();
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

}  // namespace proofmill::engine
