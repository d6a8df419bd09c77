#include "engine/backend/cuda/cuda_backend.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/msm_plan.h"
#include "engine/backend/cuda/pinned_upload.h"
#include "engine/backend/cuda/proof_run.h"
#include "engine/backend/cuda/proof_scratch.h"
#include "engine/backend/cuda/resident_key.h"
#include "engine/base/error_reason.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "kernels/cuda/msm.h"

namespace proofmill::engine {
namespace {

constexpr size_t kUploadChunkBytes = size_t{16} << 20;

std::string FormatUuid(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    absl::StrAppendFormat(&text, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

class CudaBackendImpl final : public CudaBackend {
 public:
  explicit CudaBackendImpl(int device) : device_(device), name_(absl::StrCat("cuda:", device)) {}

  ~CudaBackendImpl() override {
    const absl::StatusOr<DeviceGuard> guard = DeviceGuard::Make(calls_, device_);
    if (guard.ok()) static_cast<void>(cudaDeviceSynchronize());
  }

  absl::Status Init(size_t memory_limit) {
    MutexLock lock(proof_mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    cudaDeviceProp properties;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaGetDeviceProperties",
                                          [&] { return cudaGetDeviceProperties(&properties, device_); }));
    gpu_uuid_ = FormatUuid(properties.uuid);
    // Fails here, with the device's name, when this build has no code for it.
    const absl::Status code =
        calls_.Call("msm kernels", [&] { return kernels::MsmSlicesMax<kernels::Fq>(&g1_slices_max_); });
    if (!code.ok()) {
      return WithReason(absl::FailedPreconditionError(
                            absl::StrCat(name_, " (", properties.name, ", compute capability ",
                                         properties.major, ".", properties.minor, "): ", code.message())),
                        ErrorReason::kNoDevice);
    }
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("msm kernels", [&] { return kernels::MsmSlicesMax<kernels::Fq2>(&g2_slices_max_); }));
    PROOFMILL_ASSIGN_OR_RETURN(resources_, WorkerResources::Make(calls_));
    PROOFMILL_ASSIGN_OR_RETURN(load_stream_, Stream::Make(calls_, 0));
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free_bytes, &total_bytes); }));
    const size_t most = free_bytes > kDeviceReserveBytes ? free_bytes - kDeviceReserveBytes : 0;
    limit_ = memory_limit == 0 ? most : std::min(memory_limit, most);
    return absl::OkStatus();
  }

  const std::string& name() const override { return name_; }
  BackendKind kind() const override { return BackendKind::kCuda; }
  bool lost() const override { return calls_.lost(); }
  const std::string& gpu_uuid() const override { return gpu_uuid_; }
  CudaCalls& calls() override { return calls_; }

  std::string DescribePlan(const ResidentKey& key) const override {
    return static_cast<const CudaResidentKey&>(key).plan().ToString();
  }

  absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) override {
    MutexLock load_lock(load_mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    PROOFMILL_ASSIGN_OR_RETURN(const MsmPlan plan, PlanFor(*key));
    PROOFMILL_RETURN_IF_ERROR(GrowScratch(Shape(*key, plan)));
    PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<const DomainTables> domain, DomainFor(key->log2_domain()));
    PROOFMILL_ASSIGN_OR_RETURN(PinnedUpload upload, PinnedUpload::Make(calls_, kUploadChunkBytes));
    PROOFMILL_ASSIGN_OR_RETURN(
        std::unique_ptr<CudaResidentKey> resident,
        CudaResidentKey::Make(calls_, key, plan, std::move(domain), upload, load_stream_.get(), key_bytes_));
    return std::unique_ptr<ResidentKey>(std::move(resident));
  }

  absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const kernels::U256> witness,
                                          const ComputeContext& context) override {
    MutexLock lock(proof_mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    const auto& resident = static_cast<const CudaResidentKey&>(key);
    PROOFMILL_ASSIGN_OR_RETURN(
        const ProofScratch scratch,
        CutProofScratch(calls_, Shape(*resident.key(), resident.plan()), scratch_.data()));
    if (scratch.bytes > scratch_.size()) {
      return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                            name_, ": a proof needs ", scratch.bytes, " bytes of scratch memory, ",
                            scratch_.size(), " are there since a larger key did not fit")),
                        ErrorReason::kOutOfMemory);
    }
    ProofRun run(calls_, resources_, scratch, resident, context, transfers_);
    absl::StatusOr<Groth16Sums> sums = run.Run(witness);
    const absl::Status wiped = run.Wipe();
    if (sums.ok() && !wiped.ok()) return wiped;
    return sums;
  }

  Stats stats() const override {
    Stats stats;
    stats.host_to_device_bytes = transfers_.host_to_device_bytes.load(std::memory_order_relaxed);
    stats.device_to_host_bytes = transfers_.device_to_host_bytes.load(std::memory_order_relaxed);
    stats.limit_bytes = limit_;
    stats.allocations = calls_.allocations();
    stats.key_bytes = key_bytes_->load(std::memory_order_relaxed);
    stats.scratch_bytes = scratch_bytes_.load(std::memory_order_relaxed);
    return stats;
  }

  absl::StatusOr<std::string> ReadScratch() override {
    MutexLock lock(proof_mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    std::string bytes(scratch_.size_bytes(), '\0');
    const uint8_t* const scratch = scratch_.data();
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }));
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaMemcpy", [&] {
      return cudaMemcpy(bytes.data(), scratch, bytes.size(), cudaMemcpyDeviceToHost);
    }));
    return bytes;
  }

 private:
  ScratchShape Shape(const ProvingKey& key, const MsmPlan& plan) const {
    return {key.n_vars(), key.domain_size(), plan, g1_slices_max_, g2_slices_max_};
  }

  // The plan whose tables and scratch fit beside what is there already.
  absl::StatusOr<MsmPlan> PlanFor(const ProvingKey& key) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free_bytes, &total_bytes); }));
    const BaseCounts counts = CountBases(key);
    // Scratch depends on the plan only through the bucket sets, whose number the plan with all multiples
    // keeps at one: take it as the first guess and check the final plan below.
    size_t table_budget = 0;
    for (int round = 0; round < kPlanRounds; ++round) {
      PROOFMILL_ASSIGN_OR_RETURN(const MsmPlan plan, PlanMsms(counts, round == 0 ? SIZE_MAX : table_budget));
      PROOFMILL_ASSIGN_OR_RETURN(const ProofScratch scratch,
                                 CutProofScratch(calls_, Shape(key, plan), nullptr));
      const size_t have_scratch = scratch_bytes_.load(std::memory_order_relaxed);
      const size_t more_scratch = scratch.bytes > have_scratch ? scratch.bytes - have_scratch : 0;
      const size_t fixed =
          more_scratch + CudaResidentKey::MatrixBytes(key) + DomainTables::BytesFor(key.log2_domain());
      const size_t room = Room(free_bytes);
      if (fixed + plan.table_bytes() <= room) return plan;
      if (fixed >= room) {
        return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                              name_, ": the key needs ", fixed, " bytes of device memory beside its points, ",
                              room, " of the limit of ", limit_, " are left")),
                          ErrorReason::kOutOfMemory);
      }
      table_budget = room - fixed;
    }
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat(name_, ": no plan for the key fits in the limit of ",
                                                  limit_, " bytes of device memory")),
        ErrorReason::kOutOfMemory);
  }

  // Bytes that may still be taken: the limit less what this backend has, and never more than the device
  // gives.
  size_t Room(size_t free_bytes) const {
    const size_t used =
        key_bytes_->load(std::memory_order_relaxed) + scratch_bytes_.load(std::memory_order_relaxed);
    const size_t by_limit = limit_ > used ? limit_ - used : 0;
    return std::min(by_limit, free_bytes);
  }

  absl::StatusOr<std::shared_ptr<const DomainTables>> DomainFor(uint32_t log2_n)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mu_) {
    std::weak_ptr<const DomainTables>& known = domains_[log2_n];
    if (std::shared_ptr<const DomainTables> tables = known.lock()) return tables;
    PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<const DomainTables> tables,
                               DomainTables::Make(calls_, log2_n, load_stream_.get(), key_bytes_));
    known = tables;
    return tables;
  }

  absl::Status GrowScratch(const ScratchShape& shape) {
    MutexLock lock(proof_mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const ProofScratch needed, CutProofScratch(calls_, shape, nullptr));
    if (resources_.staging.size() < shape.n_vars) {
      PROOFMILL_ASSIGN_OR_RETURN(resources_.staging, PinnedBuffer<kernels::U256>::Make(calls_, shape.n_vars));
    }
    if (scratch_.size() >= needed.bytes) return absl::OkStatus();
    // The old arena goes first: the two need not fit side by side. Proofs of keys that are resident already
    // cannot run meanwhile, since this holds their lock, and get the old size back. Should even that fail,
    // there is no arena, and they are refused, until a load succeeds.
    const size_t old_bytes = scratch_.size();
    scratch_ = DeviceBuffer<uint8_t>();
    const absl::Status grown = TakeScratch(needed.bytes);
    if (!grown.ok()) PROOFMILL_RETURN_IF_ERROR(TakeScratch(old_bytes));
    return grown;
  }

  absl::Status TakeScratch(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(proof_mu_) {
    scratch_bytes_.store(0, std::memory_order_relaxed);
    PROOFMILL_ASSIGN_OR_RETURN(scratch_, DeviceBuffer<uint8_t>::Make(calls_, bytes));
    scratch_bytes_.store(scratch_.size(), std::memory_order_relaxed);
    if (bytes == 0) return absl::OkStatus();
    // On the stream that the next proof starts on: the default stream would not be ordered before it, and
    // could overwrite the witness.
    uint8_t* const scratch = scratch_.data();
    const cudaStream_t stream = resources_.main.get();
    return calls_.Call("cudaMemset", [&] { return cudaMemsetAsync(scratch, 0, bytes, stream); });
  }

  static constexpr int kPlanRounds = 8;

  const int device_;
  const std::string name_;
  std::string gpu_uuid_;
  CudaCalls calls_;  // outlives everything below
  size_t limit_ = 0;
  const KeyBytes key_bytes_ = std::make_shared<std::atomic<size_t>>(0);
  uint32_t g1_slices_max_ = 0;
  uint32_t g2_slices_max_ = 0;
  TransferCounters transfers_;
  std::atomic<size_t> scratch_bytes_{0};

  Mutex load_mu_;  // taken before proof_mu_ where both are
  Stream load_stream_;
  std::map<uint32_t, std::weak_ptr<const DomainTables>> domains_ ABSL_GUARDED_BY(load_mu_);

  Mutex proof_mu_;  // held while a proof runs
  WorkerResources resources_ ABSL_GUARDED_BY(proof_mu_);
  DeviceBuffer<uint8_t> scratch_ ABSL_GUARDED_BY(proof_mu_);
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
