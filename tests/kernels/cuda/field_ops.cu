#include "tests/kernels/cuda/field_ops.h"

#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {
namespace {

constexpr unsigned kThreads = 128;

template <typename F>
__global__ void Apply(FieldOp op, const F* a, const F* b, F* out, size_t n) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  switch (op) {
    case FieldOp::kAdd:
      out[i] = a[i] + b[i];
      break;
    case FieldOp::kSubtract:
      out[i] = a[i] - b[i];
      break;
    case FieldOp::kMultiply:
      out[i] = a[i] * b[i];
      break;
    case FieldOp::kNegate:
      out[i] = -a[i];
      break;
    case FieldOp::kDouble:
      out[i] = a[i].Double();
      break;
    case FieldOp::kSquare:
      out[i] = a[i].Square();
      break;
    case FieldOp::kInvert:
      out[i] = a[i].Inverse();
      break;
  }
}

}  // namespace

template <typename F>
cudaError_t LaunchFieldOp(FieldOp op, const F* a, const F* b, F* out, size_t n) {
  if (n == 0) return cudaSuccess;
  Apply<F><<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(op, a, b, out, n);
  return cudaGetLastError();
}
template cudaError_t LaunchFieldOp<Fr>(FieldOp, const Fr*, const Fr*, Fr*, size_t);
template cudaError_t LaunchFieldOp<Fq>(FieldOp, const Fq*, const Fq*, Fq*, size_t);
template cudaError_t LaunchFieldOp<Fq2>(FieldOp, const Fq2*, const Fq2*, Fq2*, size_t);

}  // namespace proofmill::kernels
