// The field arithmetic of the device, element by element, for tests to call.

#ifndef PROOFMILL_TESTS_KERNELS_CUDA_FIELD_OPS_H_
#define PROOFMILL_TESTS_KERNELS_CUDA_FIELD_OPS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/field/bn254_fq2.h"

namespace proofmill::kernels {

enum class FieldOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kNegate,
  kDouble,
  kSquare,
  kInvert,
  kDifferenceOfProducts,  // a a - a b
  kIsZero,                // 1 where a is zero, else 0
  kIsEqual,               // 1 where a is b, else 0
};

// out[i] = a[i] op b[i] for i < n, device pointers; operations on one element leave b alone. F is Fr, Fq or
// Fq2.
template <typename F>
cudaError_t LaunchFieldOp(FieldOp op, const F* a, const F* b, F* out, size_t n);

// The same with each element in two lanes, as the MSM has them. Of every three neighbouring pairs of lanes
// one computes before the others.
cudaError_t LaunchFieldOpInLanes(FieldOp op, const Fq2* a, const Fq2* b, Fq2* out, size_t n);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_CUDA_FIELD_OPS_H_
