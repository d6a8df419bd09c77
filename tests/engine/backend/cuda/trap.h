// A kernel that traps: a sticky error of the real kind, after which no call of this process works on the
// device any more.

#ifndef PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_TRAP_H_
#define PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_TRAP_H_

#include <cuda_runtime_api.h>

namespace proofmill::engine {

// Launches it on `device` and waits for it; what CUDA says of that.
cudaError_t TrapDevice(int device);

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_TRAP_H_
