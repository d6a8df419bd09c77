#include "engine/backend/cuda/key_store.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/backend/cuda/pinned_upload.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

constexpr size_t kUploadChunkBytes = size_t{16} << 20;
// Events that wait for somebody who asks; where nobody does, the oldest are forgotten.
constexpr size_t kEventsMax = 256;

KeyEvent::Kind KindOf(KeyResidency::EventKind kind) {
  switch (kind) {
    case KeyResidency::EventKind::kLoaded:
      return KeyEvent::Kind::kLoaded;
    case KeyResidency::EventKind::kEvicted:
      return KeyEvent::Kind::kEvicted;
    case KeyResidency::EventKind::kReloaded:
      return KeyEvent::Kind::kReloaded;
  }
  return KeyEvent::Kind::kReloaded;
}

}  // namespace

CudaResidentKey::~CudaResidentKey() { store_.residency_.Remove(*this); }

absl::StatusOr<size_t> CudaResidentKey::Load(size_t bytes_max) { return store_.Load(*this, bytes_max); }

void CudaResidentKey::Unload() { store_.Unload(*this); }

std::string CudaResidentKey::Describe() const { return store_.DescribePlan(device_key_->plan()); }

KeyStore::KeyStore(CudaCalls& calls, Options options, Stream load_stream)
    : calls_(calls),
      options_(std::move(options)),
      workspaces_(calls, options_.g1_slices_max, options_.g2_slices_max),
      residency_({.device = options_.name,
                  .bytes_max = options_.limit_bytes,
                  .listener = [this](const KeyResidency::Event& event) { OnEvent(event); }}),
      load_stream_(std::move(load_stream)) {}

absl::StatusOr<std::unique_ptr<CudaResidentKey>> KeyStore::Add(std::shared_ptr<const ProvingKey> key,
                                                               const MakeArenas& make_arenas) {
  MutexLock lock(add_mu_);
  PROOFMILL_ASSIGN_OR_RETURN(KeyPlanner planner, KeyPlanner::Make(SizesOf(*key), workspaces_));
  PROOFMILL_ASSIGN_OR_RETURN(MemoryPlan memory,
                             PlanMemory(options_.name, planner,
                                        {.limit = options_.limit_bytes,
                                         .resident_bytes = residency_.stats().resident_bytes,
                                         .arena_bytes = arena_bytes_.load(std::memory_order_relaxed),
                                         .batch_bytes = batch_bytes_.load(std::memory_order_relaxed),
                                         .key_bytes_min = residency_.stats().bytes_min_most}));
  const KeyPlan& fastest = planner.Fastest();
  const uint32_t proofs = fastest.batch_max;
  const size_t proofs_bytes = fastest.batch_scratch_bytes;
  const size_t n_vars = key->n_vars();
  auto resident = std::make_unique<CudaResidentKey>(*this, std::move(key), std::move(planner));
  const auto fits = [&] { return residency_.CheckFits(*resident, memory.bytes()).ok(); };
  // A batch or a second proof in flight is no reason to refuse a key that is known.
  if (!fits()) memory.arena_bytes = memory.arena_bytes_min;
  while (memory.arenas > 1 && !fits()) --memory.arenas;
  const auto take_proof_memory = [&] {
    const absl::Status made =
        make_arenas(memory, proofs_bytes <= memory.arena_bytes ? proofs * n_vars : n_vars);
    if (!made.ok()) return made;
    arena_bytes_.store(memory.arena_bytes_min, std::memory_order_relaxed);
    batch_bytes_.store(memory.batch_bytes, std::memory_order_relaxed);
    arenas_.store(memory.arenas, std::memory_order_relaxed);
    return made;
  };
  PROOFMILL_RETURN_IF_ERROR(residency_.Add(*resident, memory.bytes(), take_proof_memory));
  return resident;
}

absl::Status KeyStore::AddWhole(StoredKey& key) {
  MutexLock lock(add_mu_);
  return residency_.Add(key, residency_.stats().proof_bytes, [] { return absl::OkStatus(); });
}

absl::Status KeyStore::LoadWhole(size_t bytes, const std::function<absl::Status()>& load) {
  MutexLock lock(device_mu_);
  PROOFMILL_ASSIGN_OR_RETURN(const size_t free_bytes, FreeBytes());
  if (bytes > free_bytes) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(options_.name, ": the key needs ", bytes,
                                                                " bytes of device memory, the device has ",
                                                                free_bytes, " free")),
                      ErrorReason::kOutOfMemory);
  }
  PROOFMILL_RETURN_IF_ERROR(load());
  return FreeBytes().status();
}

absl::StatusOr<size_t> KeyStore::FreeBytes() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  PROOFMILL_RETURN_IF_ERROR(
      calls_.Call("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free_bytes, &total_bytes); }));
  free_bytes_.store(free_bytes, std::memory_order_relaxed);
  return free_bytes;
}

absl::StatusOr<size_t> KeyStore::Load(CudaResidentKey& key, size_t bytes_max) {
  MutexLock lock(device_mu_);
  PROOFMILL_ASSIGN_OR_RETURN(const size_t free_bytes, FreeBytes());
  const size_t room = std::min(bytes_max, free_bytes);
  const size_t arena_bytes = arena_bytes_.load(std::memory_order_relaxed);
  const std::optional<KeyPlan> plan = key.planner_.Find([&](const KeyPlan& candidate) {
    return candidate.key_bytes <= room && candidate.scratch_bytes <= arena_bytes;
  });
  if (!plan.has_value()) {
    return WithReason(absl::ResourceExhaustedError(
                          absl::StrCat(options_.name, ": the key needs at least ", key.bytes_min(),
                                       " bytes of device memory, the device has ", free_bytes, " free")),
                      ErrorReason::kOutOfMemory);
  }
  const ProvingKey& source = *key.key();
  PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<const DomainTables> domain, DomainFor(source.log2_domain()));
  PROOFMILL_ASSIGN_OR_RETURN(PinnedUpload upload, PinnedUpload::Make(calls_, kUploadChunkBytes));
  PROOFMILL_ASSIGN_OR_RETURN(
      std::unique_ptr<DeviceKey> device_key,
      DeviceKey::Make(calls_, source, *plan, std::move(domain), upload, load_stream_.get(), key_bytes_));
  PROOFMILL_RETURN_IF_ERROR(FreeBytes().status());
  key.device_bytes_.store(device_key->size_bytes(), std::memory_order_relaxed);
  key.device_key_ = std::move(device_key);
  return plan->key_bytes;
}

void KeyStore::Unload(CudaResidentKey& key) {
  MutexLock lock(device_mu_);
  for (CudaResidentKey::BindingsOfArena& bindings : key.bindings_) {
    for (std::unique_ptr<const ProofBinding>& binding : bindings) binding.reset();
  }
  key.device_key_.reset();
  key.device_bytes_.store(0, std::memory_order_relaxed);
}

absl::StatusOr<std::shared_ptr<const DomainTables>> KeyStore::DomainFor(uint32_t log2_n) {
  std::weak_ptr<const DomainTables>& known = domains_[log2_n];
  if (std::shared_ptr<const DomainTables> tables = known.lock()) return tables;
  PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<const DomainTables> tables,
                             DomainTables::Make(calls_, log2_n, load_stream_.get(), key_bytes_));
  known = tables;
  return tables;
}

void KeyStore::OnEvent(const KeyResidency::Event& event) {
  const auto& key = static_cast<const StoredKey&>(event.key);
  const bool evicted = event.kind == KeyResidency::EventKind::kEvicted;
  KeyEvent out{.kind = KindOf(event.kind),
               .key = key.source(),
               .bytes = event.bytes,
               .duration = event.duration,
               .plan = evicted ? "" : key.Describe()};
  MutexLock lock(events_mu_);
  if (events_.size() == kEventsMax) events_.erase(events_.begin());
  events_.push_back(std::move(out));
}

std::vector<KeyEvent> KeyStore::TakeEvents() {
  MutexLock lock(events_mu_);
  return std::exchange(events_, {});
}

std::string KeyStore::DescribePlan(const KeyPlan& plan) const {
  return absl::StrCat(
      plan.msms.ToString(), "; key ", plan.key_bytes, " bytes, scratch of a proof ", plan.scratch_bytes,
      " bytes, ", arenas_.load(std::memory_order_relaxed), " in flight, limit ", options_.limit_bytes,
      " bytes",
      plan.msms.is_full() && !plan.msms.in_turn ? "" : ": smaller and slower, because memory is short");
}

}  // namespace proofmill::engine
