// Element-wise operations on vectors of Fr in device memory. Elements are in Montgomery form, fully reduced.
// Plain C++: host code that includes this file needs no CUDA compiler.

#ifndef PROOFMILL_KERNELS_CUDA_POINTWISE_H_
#define PROOFMILL_KERNELS_CUDA_POINTWISE_H_

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// out[i] = a[i] * b[i] for i < n, enqueued on `stream`. `out` may be equal to `a` or `b`, but must not
// overlap them otherwise. REQUIRES: device pointers; the current device owns `stream`. Returns the launch
// error; an error inside the kernel shows at the next synchronisation.
cudaError_t LaunchPointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n, cudaStream_t stream);

// out[i] = a[i] * b[i] - c[i], the quotient step of Groth16. Same rules; `out` may be equal to `c` too.
cudaError_t LaunchPointwiseMulSub(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n,
                                  cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_POINTWISE_H_
