// Many multiples of one base on a device, by the precomputed multiples of a FixedBaseTable.
//
// Plain C++: host code that includes this file needs no CUDA compiler.

#ifndef PROOFMILL_KERNELS_CUDA_FIXED_BASE_H_
#define PROOFMILL_KERNELS_CUDA_FIXED_BASE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cpu/signed_digits.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// The multiples of a base in device memory, as FixedBaseTable<F>::multiples() has them, and how they cut a
// scalar.
template <typename F>
struct DeviceFixedBase {
  SignedDigits digits;
  const Affine<F>* multiples;
};

// out[i] = scalars[i] * base for i < n, in affine form, infinity included; enqueued on `stream`. `out` may
// not overlap the rest. REQUIRES: the current device owns `stream` and the memory. Returns the launch error;
// an error inside the kernel shows at the next synchronisation.
template <typename F>
cudaError_t LaunchFixedBaseMultiply(const DeviceFixedBase<F>& base, const Fr* scalars, uint32_t n,
                                    Affine<F>* out, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_FIXED_BASE_H_
