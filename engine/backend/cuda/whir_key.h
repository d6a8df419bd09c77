// The memory of WHIR proofs with one set of parameters, as a key of a GPU's store: it is taken when the
// parameters are loaded, may give way for another key between proofs, and comes back when it is needed.
//
// Thread safety: as WhirDevice. Locks: mu_ before those of the store, which calls Load() and Unload() with
// its own held and hence without mu_: never while a proof uses the memory.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_KEY_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_KEY_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/device_key.h"
#include "engine/backend/cuda/key_store.h"
#include "engine/backend/cuda/whir_worker.h"
#include "engine/base/mutex.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

class CudaWhirKey final : public WhirDevice, public StoredKey {
 public:
  // Makes the key and loads it. REQUIRES: `device` is current; `calls` and `store` outlive the key.
  //   RESOURCE_EXHAUSTED  it does not fit, even alone; the message names the bytes.
  //   INTERNAL            the device failed.
  static absl::StatusOr<std::unique_ptr<CudaWhirKey>> Make(CudaCalls& calls, KeyStore& store, int device,
                                                           std::shared_ptr<const WhirConfig> config);
  ~CudaWhirKey() override;

  absl::StatusOr<WhirProof> Prove(absl::Span<const kernels::BabyBear> polynomial,
                                  absl::Span<const WhirClaim> claims,
                                  const WhirProveOptions& options) override;
  absl::StatusOr<WhirElements> Evaluate(absl::Span<const kernels::BabyBear> polynomial,
                                        absl::Span<const WhirClaim> claims) override;
  size_t device_bytes() const override { return device_bytes_.load(std::memory_order_relaxed); }

  size_t bytes_min() const override;
  absl::StatusOr<size_t> Load(size_t bytes_max) override;
  void Unload() override;
  std::shared_ptr<const void> source() const override { return config_; }
  std::string Describe() const override;

 private:
  CudaWhirKey(CudaCalls& calls, KeyStore& store, int device, std::shared_ptr<const WhirConfig> config)
      : calls_(calls), store_(store), device_(device), config_(std::move(config)) {}
  // Runs `body` with the memory in place and the device current.
  template <typename F>
  auto UseWorker(F&& body) -> decltype(body());

  CudaCalls& calls_;
  KeyStore& store_;
  const int device_;
  const std::shared_ptr<const WhirConfig> config_;
  std::unique_ptr<WhirWorker> worker_;
  KeyBytesClaim claim_;
  std::atomic<size_t> device_bytes_{0};
  Mutex mu_;  // held while a proof is made
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_KEY_H_
