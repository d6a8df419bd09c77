// The keys of one GPU: finds a form for each that fits, loads it, and lets the least recently used go when
// memory is short (engine/backend/key_residency.h). A key that had to go is made again from host memory. The
// memory of WHIR proofs with one set of parameters counts as a key too.
//
// Thread safety: every method may be called from any thread. Locks, in this order: add_mu_, those of
// KeyResidency, device_mu_, events_mu_.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_KEY_STORE_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_KEY_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/device_key.h"
#include "engine/backend/cuda/key_plan.h"
#include "engine/backend/cuda/proof_binding.h"
#include "engine/backend/cuda/proof_line.h"
#include "engine/backend/cuda/proof_scratch.h"
#include "engine/backend/key_residency.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

class KeyStore;

// Whatever this store holds, in the memory of the device or not.
class StoredKey : public EvictableKey {
 public:
  // What it stands for (KeyEvent).
  virtual std::shared_ptr<const void> source() const = 0;
  // The form that it is held in, one line. REQUIRES: it is in use or was just loaded.
  virtual std::string Describe() const = 0;
};

class CudaResidentKey final : public ResidentKey, public StoredKey {
 public:
  CudaResidentKey(KeyStore& store, std::shared_ptr<const ProvingKey> key, KeyPlanner planner)
      : ResidentKey(std::move(key)), store_(store), planner_(std::move(planner)) {}
  ~CudaResidentKey() override;

  size_t device_bytes() const override { return device_bytes_.load(std::memory_order_relaxed); }
  // REQUIRES: in use, by KeyStore::Use().
  const DeviceKey& device_key() const { return *device_key_; }
  // Of this key and arena `number`, for batches of 2^log2_proofs; null at first and whenever the key has come
  // back. REQUIRES: in use; the caller holds the arena.
  std::unique_ptr<const ProofBinding>& binding(uint32_t number, uint32_t log2_proofs) {
    return bindings_[number][log2_proofs];
  }
  ProofLine& line() { return line_; }
  // Where memory is not short.
  uint32_t batch_max() const { return planner_.Fastest().batch_max; }

  size_t bytes_min() const override { return planner_.Smallest().key_bytes; }
  absl::StatusOr<size_t> Load(size_t bytes_max) override;
  void Unload() override;
  std::shared_ptr<const void> source() const override { return key(); }
  std::string Describe() const override;

 private:
  friend class KeyStore;
  KeyStore& store_;
  const KeyPlanner planner_;
  std::unique_ptr<const DeviceKey> device_key_;  // written by Load() and Unload() only, never while in use
  using BindingsOfArena = std::array<std::unique_ptr<const ProofBinding>, kBatchLog2Max + 1>;
  std::array<BindingsOfArena, kArenasMax> bindings_;  // end before device_key_
  ProofLine line_;
  std::atomic<size_t> device_bytes_{0};
};

class KeyStore {
 public:
  struct Options {
    int device = 0;
    std::string name;  // of the device, for messages
    size_t limit_bytes = 0;
    uint32_t g1_slices_max = 0;
    uint32_t g2_slices_max = 0;
  };
  // `load_stream` is what keys are uploaded on. `calls` must outlive the store. REQUIRES: every key ends
  // before the store.
  KeyStore(CudaCalls& calls, Options options, Stream load_stream);
  KeyStore(const KeyStore&) = delete;
  KeyStore& operator=(const KeyStore&) = delete;

  // Makes the memory for proofs, with room for so many values of witnesses in each arena; called with no lock
  // of residency's state held, proofs may be running.
  using MakeArenas = std::function<absl::Status(const MemoryPlan& plan, size_t staging_values)>;
  // Plans `key` and loads it. REQUIRES: the device is current.
  //   RESOURCE_EXHAUSTED  it does not fit, even alone; the message names the bytes.
  //   INTERNAL            the device failed.
  absl::StatusOr<std::unique_ptr<CudaResidentKey>> Add(std::shared_ptr<const ProvingKey> key,
                                                       const MakeArenas& make_arenas);
  // Loads a key that needs no room of its own for proofs: it brings it. Errors as Add(). REQUIRES: the device
  // is current.
  absl::Status AddWhole(StoredKey& key);
  // Undoes it; nothing if that failed. REQUIRES: no proof uses it.
  void Remove(StoredKey& key) { residency_.Remove(key); }
  // Keeps `key` resident as long as the result lives, and brings it back first if it had to go. REQUIRES: the
  // device is current.
  absl::StatusOr<KeyResidency::Use> UseKey(StoredKey& key) { return residency_.UseKey(key); }
  // Runs `load`, which takes device memory for a key of `bytes` bytes, while nothing else does.
  //   RESOURCE_EXHAUSTED  the device has less left.
  absl::Status LoadWhole(size_t bytes, const std::function<absl::Status()>& load);
  // What keys take on the device, to be added to.
  const KeyBytes& total() const { return key_bytes_; }

  // The shape of the scratch of one proof.
  ScratchShape ShapeFor(const ProvingKey& key, const MsmPlan& plan) const {
    return {key.n_vars(), key.domain_size(), plan, options_.g1_slices_max, options_.g2_slices_max};
  }

  // What keys take on the device; memory that the device had left when it was last looked at.
  size_t key_bytes() const { return key_bytes_->load(std::memory_order_relaxed); }
  size_t free_bytes() const { return free_bytes_.load(std::memory_order_relaxed); }
  KeyResidency::Stats stats() const { return residency_.stats(); }
  std::vector<KeyEvent> TakeEvents();
  // The form that a key in use or just loaded is held in, one line.
  std::string DescribePlan(const KeyPlan& plan) const;

 private:
  friend class CudaResidentKey;
  absl::StatusOr<size_t> Load(CudaResidentKey& key, size_t bytes_max);
  void Unload(CudaResidentKey& key);
  absl::StatusOr<size_t> FreeBytes();
  absl::StatusOr<std::shared_ptr<const DomainTables>> DomainFor(uint32_t log2_n)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(device_mu_);
  void OnEvent(const KeyResidency::Event& event);

  CudaCalls& calls_;
  const Options options_;
  const DeviceWorkspaceSizes workspaces_;
  const KeyBytes key_bytes_ = std::make_shared<std::atomic<size_t>>(0);
  std::atomic<size_t> free_bytes_{0};
  std::atomic<size_t> arena_bytes_{
      0};  // what proofs that are made alone need; there may be more, for batches
  std::atomic<size_t> batch_bytes_{0};
  std::atomic<uint32_t> arenas_{0};
  KeyResidency residency_;

  Mutex add_mu_;
  Mutex device_mu_;
  const Stream load_stream_ ABSL_GUARDED_BY(device_mu_);
  std::map<uint32_t, std::weak_ptr<const DomainTables>> domains_ ABSL_GUARDED_BY(device_mu_);

  Mutex events_mu_;
  std::vector<KeyEvent> events_ ABSL_GUARDED_BY(events_mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_KEY_STORE_H_
