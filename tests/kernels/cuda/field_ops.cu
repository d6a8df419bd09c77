#include "tests/kernels/cuda/field_ops.h"

#include <cstring>

#include "kernels/cuda/element_lanes.cuh"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {
namespace {

constexpr unsigned kThreads = 128;

template <typename E>
__device__ E Result(FieldOp op, const E& a, const E& b) {
  switch (op) {
    case FieldOp::kAdd:
      return a + b;
    case FieldOp::kSubtract:
      return a - b;
    case FieldOp::kMultiply:
      return a * b;
    case FieldOp::kNegate:
      return -a;
    case FieldOp::kDouble:
      return a.Double();
    case FieldOp::kSquare:
      return a.Square();
    case FieldOp::kInvert:
      return a.Inverse();
    case FieldOp::kDifferenceOfProducts:
      return E::DifferenceOfProducts(a, a, a, b);
    case FieldOp::kIsZero:
      return a.IsZero() ? E::One() : E::Zero();
    case FieldOp::kIsEqual:
      return a == b && !(a != b) ? E::One() : E::Zero();
  }
  return E::Zero();
}

template <typename F>
__global__ void Apply(FieldOp op, const F* a, const F* b, F* out, size_t n) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) out[i] = Result(op, a[i], b[i]);
}

__global__ void ApplyInLanes(FieldOp op, const Fq2* a, const Fq2* b, Fq2* out, size_t n) {
  const size_t i = (size_t{blockIdx.x} * kThreads + threadIdx.x) / device::kTeamLanes<Fq2>;
  if (i >= n) return;
  const auto half = [](const Fq2& x) {
    return device::Fq2Half(device::LaneOfTeam<Fq2>() == 0 ? x.c0 : x.c1);
  };
  for (int round = 0; round < 2; ++round) {
    if ((i % 3 == 0) != (round == 0)) continue;
    const device::Fq2Half result = Result(op, half(a[i]), half(b[i]));
    memcpy(device::LaneOfTeam<Fq2>() == 0 ? &out[i].c0 : &out[i].c1, &result, sizeof(result));
  }
}

}  // namespace

template <typename F>
cudaError_t LaunchFieldOp(FieldOp op, const F* a, const F* b, F* out, size_t n) {
  if (n == 0) return cudaSuccess;
  Apply<F><<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(op, a, b, out, n);
  return cudaGetLastError();
}

cudaError_t LaunchFieldOpInLanes(FieldOp op, const Fq2* a, const Fq2* b, Fq2* out, size_t n) {
  if (n == 0) return cudaSuccess;
  const size_t threads = n * device::kTeamLanes<Fq2>;
  ApplyInLanes<<<static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads>>>(op, a, b, out, n);
  return cudaGetLastError();
}
template cudaError_t LaunchFieldOp<Fr>(FieldOp, const Fr*, const Fr*, Fr*, size_t);
template cudaError_t LaunchFieldOp<Fq>(FieldOp, const Fq*, const Fq*, Fq*, size_t);
template cudaError_t LaunchFieldOp<Fq2>(FieldOp, const Fq2*, const Fq2*, Fq2*, size_t);

}  // namespace proofmill::kernels
