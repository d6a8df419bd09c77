#include "tests/engine/groth16/faulty_backend.h"

#include <utility>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {

FaultyBackend::FaultyBackend(std::function<Fault(int)> fault)
    : fault_(std::move(fault)), cpu_(MakeCpuBackend({.threads = 2})) {}

absl::StatusOr<std::unique_ptr<ResidentKey>> FaultyBackend::LoadKey(std::shared_ptr<const ProvingKey> key) {
  return cpu_->LoadKey(std::move(key));
}

absl::StatusOr<Groth16Sums> FaultyBackend::ComputeSums(ResidentKey& key,
                                                       absl::Span<const kernels::U256> witness,
                                                       const ComputeContext& context) {
  const Fault fault = fault_(proofs_++);
  lost_ = lost_ || fault == Fault::kLost;
  if (fault == Fault::kError || lost_) {
    return WithReason(absl::InternalError("faulty: illegal memory access"), ErrorReason::kDeviceFault);
  }
  auto sums = cpu_->ComputeSums(key, witness, context);
  if (sums.ok() && fault == Fault::kWrongSum) sums->h += kernels::kG1Generator;
  return sums;
}

}  // namespace proofmill::engine
