#include "engine/backend/cuda/whir_device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/whir_worker.h"
#include "engine/base/error_reason.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;

class Device final : public CudaWhirDevice {
 public:
  explicit Device(int device) : device_(device) {}

  absl::Status Initialise(const WhirConfig& config) {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    PROOFMILL_ASSIGN_OR_RETURN(worker_, WhirWorker::Make(calls_, config));
    return worker_->TakeMemory(config.parameters.num_claims);
  }

  size_t device_bytes() const override { return worker_->device_bytes(); }
  CudaCalls& calls() override { return calls_; }

  absl::StatusOr<WhirProof> Prove(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                                  const WhirProveOptions& options) override {
    const MutexLock lock(mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    if (claims.size() > worker_->claims()) PROOFMILL_RETURN_IF_ERROR(worker_->TakeMemory(claims.size()));
    return worker_->Prove(polynomial, claims, options);
  }

  absl::StatusOr<WhirElements> Evaluate(absl::Span<const BabyBear> polynomial,
                                        absl::Span<const WhirClaim> claims) override {
    const MutexLock lock(mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    if (claims.size() > worker_->claims()) PROOFMILL_RETURN_IF_ERROR(worker_->TakeMemory(claims.size()));
    return worker_->Evaluate(polynomial, claims);
  }

 private:
  const int device_;
  CudaCalls calls_;
  Mutex mu_;  // held while a proof is made
  std::unique_ptr<WhirWorker> worker_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaWhirDevice>> MakeCudaWhirDevice(const WhirConfig& config, int device) {
  PROOFMILL_ASSIGN_OR_RETURN(const int count, CountCudaDevices());
  if (device < 0 || device >= count) {
    return WithReason(absl::FailedPreconditionError(
                          absl::StrCat("cuda: expected a device below ", count, ", got ", device)),
                      ErrorReason::kNoDevice);
  }
  auto out = std::make_unique<Device>(device);
  PROOFMILL_RETURN_IF_ERROR(out->Initialise(config));
  return out;
}

}  // namespace proofmill::engine
