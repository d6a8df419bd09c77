#include "engine/backend/cuda/cuda_backend.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/backend/cuda/arena_pool.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/key_plan.h"
#include "engine/backend/cuda/key_store.h"
#include "engine/backend/cuda/proof_binding.h"
#include "engine/backend/cuda/proof_run.h"
#include "engine/backend/cuda/whir_key.h"
#include "engine/backend/whir_backend.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "kernels/cuda/msm.h"

namespace proofmill::engine {
namespace {

// While as many as make all batches are computed, as many gather for the next.
constexpr size_t kProofsInFlightMax = size_t{2} * kLeadersMax * kBatchMax;

std::string FormatUuid(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    absl::StrAppendFormat(&text, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

class CudaBackendImpl final : public CudaBackend, public WhirBackend {
 public:
  explicit CudaBackendImpl(int device)
      : device_(device), name_(absl::StrCat("cuda:", device)), arenas_(calls_, name_) {}

  ~CudaBackendImpl() override {
    const absl::StatusOr<DeviceGuard> guard = DeviceGuard::Make(calls_, device_);
    if (guard.ok()) static_cast<void>(cudaDeviceSynchronize());
  }

  absl::Status Init(size_t memory_limit) {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    cudaDeviceProp properties;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaGetDeviceProperties",
                                          [&] { return cudaGetDeviceProperties(&properties, device_); }));
    gpu_uuid_ = FormatUuid(properties.uuid);
    uint32_t g1_slices_max = 0;
    uint32_t g2_slices_max = 0;
    // Fails here, with the device's name, when this build has no code for it.
    const absl::Status code =
        calls_.Call("msm kernels", [&] { return kernels::MsmSlicesMax<kernels::Fq>(&g1_slices_max); });
    if (!code.ok()) {
      return WithReason(absl::FailedPreconditionError(
                            absl::StrCat(name_, " (", properties.name, ", compute capability ",
                                         properties.major, ".", properties.minor, "): ", code.message())),
                        ErrorReason::kNoDevice);
    }
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("msm kernels", [&] { return kernels::MsmSlicesMax<kernels::Fq2>(&g2_slices_max); }));
    PROOFMILL_ASSIGN_OR_RETURN(Stream load_stream, Stream::Make(calls_, 0));
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free_bytes, &total_bytes); }));
    const size_t most = free_bytes > kDeviceReserveBytes ? free_bytes - kDeviceReserveBytes : 0;
    limit_ = memory_limit == 0 ? most : std::min(memory_limit, most);
    keys_ = std::make_unique<KeyStore>(calls_,
                                       KeyStore::Options{.device = device_,
                                                         .name = name_,
                                                         .limit_bytes = limit_,
                                                         .g1_slices_max = g1_slices_max,
                                                         .g2_slices_max = g2_slices_max},
                                       std::move(load_stream));
    return absl::OkStatus();
  }

  const std::string& name() const override { return name_; }
  BackendKind kind() const override { return BackendKind::kCuda; }
  std::string_view gpu_uuid() const override { return gpu_uuid_; }
  size_t proofs_in_flight() const override { return kProofsInFlightMax; }
  size_t ProofsInFlight(const ResidentKey& key) const override {
    const size_t batches = size_t{2} * kLeadersMax * static_cast<const CudaResidentKey&>(key).batch_max();
    return std::clamp(batches, size_t{kArenasMax}, kProofsInFlightMax);
  }
  bool lost() const override { return calls_.lost(); }
  CudaCalls& calls() override { return calls_; }
  WhirBackend* whir() override { return this; }

  absl::StatusOr<std::unique_ptr<WhirDevice>> LoadWhir(std::shared_ptr<const WhirConfig> config) override {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    return CudaWhirKey::Make(calls_, *keys_, device_, std::move(config));
  }

  std::string DescribePlan(const ResidentKey& key) const override {
    const auto& resident = static_cast<const CudaResidentKey&>(key);
    if (resident.device_bytes() == 0) return "evicted";
    return keys_->DescribePlan(resident.device_key().plan());
  }

  absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) override {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<CudaResidentKey> resident,
                               keys_->Add(std::move(key), [&](const MemoryPlan& plan, size_t values) {
                                 return arenas_.Resize(plan, values);
                               }));
    return std::unique_ptr<ResidentKey>(std::move(resident));
  }

  absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const kernels::U256> witness,
                                          const ComputeContext& context) override {
    auto& resident = static_cast<CudaResidentKey&>(key);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    // The key first: it may have to wait for proofs that hold arenas, which never wait for keys.
    PROOFMILL_ASSIGN_OR_RETURN(const KeyResidency::Use use, keys_->UseKey(resident));
    if (resident.device_key().plan().batch_max == 1) {
      PROOFMILL_ASSIGN_OR_RETURN(const ArenaPool::Lease arena, arenas_.Take());
      return ComputeAlone(resident, *arena, witness, context);
    }
    return ComputeInLine(resident, witness, context);
  }

  DeviceUsage stats() const override {
    const KeyResidency::Stats keys = keys_->stats();
    DeviceUsage usage;
    usage.key_bytes = keys_->key_bytes();
    usage.scratch_bytes = arenas_.scratch_bytes();
    usage.free_bytes = keys_->free_bytes();
    usage.limit_bytes = limit_;
    usage.host_to_device_bytes = calls_.host_to_device_bytes();
    usage.device_to_host_bytes = calls_.device_to_host_bytes();
    usage.allocations = calls_.allocations();
    usage.key_evictions = keys.evictions;
    usage.key_reloads = keys.reloads;
    usage.batches = batches_.load(std::memory_order_relaxed);
    usage.batched_proofs = batched_proofs_.load(std::memory_order_relaxed);
    return usage;
  }
  std::optional<DeviceUsage> usage() const override { return stats(); }
  std::vector<KeyEvent> TakeKeyEvents() override { return keys_->TakeEvents(); }

  absl::StatusOr<std::string> ReadScratch() override {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    return arenas_.Read();
  }

 private:
  // `key` on `arena`, for so many proofs.
  absl::StatusOr<const ProofBinding*> Bind(CudaResidentKey& key, Arena& arena, uint32_t log2_proofs) {
    std::unique_ptr<const ProofBinding>& binding = key.binding(arena.number, log2_proofs);
    if (binding == nullptr || binding->generation() != arena.generation) {
      const DeviceKey& device_key = key.device_key();
      const MsmPlan plan = device_key.plan().msms.ForBatch(uint32_t{1} << log2_proofs);
      PROOFMILL_ASSIGN_OR_RETURN(binding,
                                 ProofBinding::Make(calls_, arena.resources, arena.scratch, arena.generation,
                                                    keys_->ShapeFor(*key.key(), plan), device_key));
    }
    return binding.get();
  }

  absl::StatusOr<Groth16Sums> ComputeAlone(CudaResidentKey& key, Arena& arena,
                                           absl::Span<const kernels::U256> witness,
                                           const ComputeContext& context) {
    // Key and arena may have taken a while.
    if (context.cancel != nullptr) PROOFMILL_RETURN_IF_ERROR(context.cancel->Check());
    PROOFMILL_ASSIGN_OR_RETURN(const ProofBinding* const binding, Bind(key, arena, 0));
    ProofRun run(calls_, arena.resources, *binding);
    absl::StatusOr<Groth16Sums> sums = run.Run(witness, context);
    const absl::Status wiped = run.Wipe();
    if (sums.ok() && !wiped.ok()) return wiped;
    return sums;
  }

  // Alone or in a batch, as the line has it.
  absl::StatusOr<Groth16Sums> ComputeInLine(CudaResidentKey& key, absl::Span<const kernels::U256> witness,
                                            const ComputeContext& context) {
    ProofInBatch proof(witness);
    if (std::optional<ProofLine::Lead> lead = key.line().Join(proof)) {
      PROOFMILL_ASSIGN_OR_RETURN(const ArenaPool::Lease arena, arenas_.Take());
      const std::vector<ProofLine::Member*>& members = lead->Take(ProofsFor(key, *arena));
      if (members.size() == 1) return ComputeAlone(key, *arena, witness, context);
      PROOFMILL_RETURN_IF_ERROR(ComputeBatch(key, *arena, members));
    }
    if (!proof.made) {
      // The batch failed, which is told once, by its leader.
      PROOFMILL_ASSIGN_OR_RETURN(const ArenaPool::Lease arena, arenas_.Take());
      return ComputeAlone(key, *arena, witness, context);
    }
    ReportStages(proof.stages, context.stages);
    return JoinSums(key.device_key().plan().msms, proof.parts);
  }

  // Proofs of a batch that `arena` has room for.
  static uint32_t ProofsFor(const CudaResidentKey& key, const Arena& arena) {
    const KeyPlan& plan = key.device_key().plan();
    const size_t values = size_t{plan.batch_max} * key.key()->n_vars();
    return plan.batch_scratch_bytes <= arena.scratch.size() && values <= arena.resources.staging.size()
               ? plan.batch_max
               : 1;
  }

  absl::Status ComputeBatch(CudaResidentKey& key, Arena& arena,
                            absl::Span<ProofLine::Member* const> members) {
    const auto log2_proofs = static_cast<uint32_t>(absl::bit_width(members.size()) - 1);
    PROOFMILL_ASSIGN_OR_RETURN(const ProofBinding* const binding, Bind(key, arena, log2_proofs));
    ProofRun run(calls_, arena.resources, *binding);
    absl::Status status = run.RunBatch(members);
    const absl::Status wiped = run.Wipe();
    PROOFMILL_RETURN_IF_ERROR(status);
    batches_.fetch_add(1, std::memory_order_relaxed);
    batched_proofs_.fetch_add(members.size(), std::memory_order_relaxed);
    return wiped;
  }

  const int device_;
  const std::string name_;
  std::string gpu_uuid_;
  CudaCalls calls_;  // outlives everything below
  size_t limit_ = 0;
  std::atomic<uint64_t> batches_{0};
  std::atomic<uint64_t> batched_proofs_{0};
  ArenaPool arenas_;
  std::unique_ptr<KeyStore> keys_;
};

}  // namespace

absl::StatusOr<int> CountCudaDevices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return count;
  const char* why = error == cudaSuccess ? "no NVIDIA GPU is visible" : cudaGetErrorString(error);
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("cuda: expected at least one usable GPU, got none: ", why)),
      ErrorReason::kNoDevice);
}

absl::StatusOr<std::unique_ptr<CudaBackend>> MakeCudaBackend(const CudaBackendOptions& options) {
  PROOFMILL_ASSIGN_OR_RETURN(const int count, CountCudaDevices());
  if (options.device < 0 || options.device >= count) {
    return WithReason(absl::FailedPreconditionError(absl::StrCat("cuda: expected a device number from 0 to ",
                                                                 count - 1, ", got ", options.device)),
                      ErrorReason::kNoDevice);
  }
  auto backend = std::make_unique<CudaBackendImpl>(options.device);
  PROOFMILL_RETURN_IF_ERROR(backend->Init(options.device_memory_limit));
  return std::unique_ptr<CudaBackend>(std::move(backend));
}

}  // namespace proofmill::engine
