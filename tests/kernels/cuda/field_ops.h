// The field arithmetic of the device, element by element, for tests to call.

#ifndef PROOFMILL_TESTS_KERNELS_CUDA_FIELD_OPS_H_
#define PROOFMILL_TESTS_KERNELS_CUDA_FIELD_OPS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace proofmill::kernels {

enum class FieldOp : uint8_t { kAdd, kSubtract, kMultiply, kNegate, kDouble, kSquare, kInvert };

// out[i] = a[i] op b[i] for i < n, device pointers; operations on one element leave b alone. F is Fr, Fq or
// Fq2.
template <typename F>
cudaError_t LaunchFieldOp(FieldOp op, const F* a, const F* b, F* out, size_t n);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_CUDA_FIELD_OPS_H_
