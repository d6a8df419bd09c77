#include "engine/backend/cuda/whir_key.h"

#include "absl/strings/str_cat.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/msm_plan.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

using kernels::BabyBear;

absl::StatusOr<std::unique_ptr<CudaWhirKey>> CudaWhirKey::Make(CudaCalls& calls, KeyStore& store, int device,
                                                               std::shared_ptr<const WhirConfig> config) {
  std::unique_ptr<CudaWhirKey> key(new CudaWhirKey(calls, store, device, std::move(config)));
  PROOFMILL_ASSIGN_OR_RETURN(key->worker_, WhirWorker::Make(calls, *key->config_));
  PROOFMILL_RETURN_IF_ERROR(store.AddWhole(*key));
  return key;
}

CudaWhirKey::~CudaWhirKey() { store_.Remove(*this); }

size_t CudaWhirKey::bytes_min() const {
  return DeviceAllocationBytes(worker_->BytesFor(config_->parameters.num_claims));
}

absl::StatusOr<size_t> CudaWhirKey::Load(size_t) {
  const size_t bytes = bytes_min();
  PROOFMILL_RETURN_IF_ERROR(
      store_.LoadWhole(bytes, [this] { return worker_->TakeMemory(config_->parameters.num_claims); }));
  claim_ = KeyBytesClaim(store_.total(), bytes);
  device_bytes_.store(bytes, std::memory_order_relaxed);
  return bytes;
}

void CudaWhirKey::Unload() {
  worker_->DropMemory();
  claim_ = KeyBytesClaim();
  device_bytes_.store(0, std::memory_order_relaxed);
}

std::string CudaWhirKey::Describe() const {
  return absl::StrCat("WHIR, 2^", config_->parameters.num_variables, " values; proofs one at a time in ",
                      bytes_min(), " bytes");
}

template <typename F>
auto CudaWhirKey::UseWorker(F&& body) -> decltype(body()) {
  const MutexLock lock(mu_);
  PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
  PROOFMILL_ASSIGN_OR_RETURN(const KeyResidency::Use use, store_.UseKey(*this));
  return body();
}

absl::StatusOr<WhirProof> CudaWhirKey::Prove(absl::Span<const BabyBear> polynomial,
                                             absl::Span<const WhirClaim> claims,
                                             const WhirProveOptions& options) {
  return UseWorker([&] { return worker_->Prove(polynomial, claims, options); });
}

absl::StatusOr<WhirElements> CudaWhirKey::Evaluate(absl::Span<const BabyBear> polynomial,
                                                   absl::Span<const WhirClaim> claims) {
  return UseWorker([&] { return worker_->Evaluate(polynomial, claims); });
}

}  // namespace proofmill::engine
