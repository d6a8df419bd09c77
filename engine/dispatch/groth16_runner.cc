#include "engine/dispatch/groth16_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/groth16/blame.h"
#include "engine/groth16/prover.h"

namespace proofmill::engine {
namespace {

absl::Span<const kernels::U256> CanaryOf(const Circuit& circuit) {
  if (circuit.canary == nullptr) return {};
  return {circuit.canary->values.data(), circuit.canary->values.size()};
}

KeyChange ChangeOf(KeyEvent::Kind kind) {
  switch (kind) {
    case KeyEvent::Kind::kLoaded:
      return KeyChange::kLoaded;
    case KeyEvent::Kind::kEvicted:
      return KeyChange::kEvicted;
    case KeyEvent::Kind::kReloaded:
      return KeyChange::kReloaded;
  }
  return KeyChange::kReloaded;
}

}  // namespace

Groth16Runner::Groth16Runner(std::unique_ptr<Groth16Backend> backend, Options options)
    : backend_(std::move(backend)), options_(options) {}

DeviceInfo Groth16Runner::info() const {
  return {.device = backend_->name(),
          .backend = backend_->kind() == BackendKind::kCpu ? "cpu" : "cuda",
          .gpu_uuid = backend_->gpu_uuid()};
}

absl::Status Groth16Runner::Install(const Circuit& circuit) {
  {
    MutexLock lock(mu_);
    names_.insert_or_assign(circuit.key.get(), circuit.id);  // for what happens while it is loaded
  }
  absl::Status status = MakeResident(circuit);
  if (status.ok()) return status;
  MutexLock lock(mu_);
  names_.erase(circuit.key.get());
  return status;
}

absl::Status Groth16Runner::MakeResident(const Circuit& circuit) {
  PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<ResidentKey> key, backend_->LoadKey(circuit.key));
  circuit.key->MakeTables();
  if (circuit.canary != nullptr) PROOFMILL_RETURN_IF_ERROR(ProveCanary(circuit, *key));
  MutexLock lock(mu_);
  resident_.insert_or_assign(circuit.key.get(), std::move(key));
  return absl::OkStatus();
}

void Groth16Runner::Remove(const Circuit& circuit) {
  std::shared_ptr<ResidentKey> removed;  // its memory is given back after the lock
  MutexLock lock(mu_);
  names_.erase(circuit.key.get());
  const auto found = resident_.find(circuit.key.get());
  if (found == resident_.end()) return;
  removed = std::move(found->second);
  resident_.erase(found);
}

std::shared_ptr<ResidentKey> Groth16Runner::Find(const Circuit& circuit) const {
  MutexLock lock(mu_);
  const auto found = resident_.find(circuit.key.get());
  return found == resident_.end() ? nullptr : found->second;
}

std::vector<DeviceMemory> Groth16Runner::Memory() const {
  if (const std::optional<DeviceUsage> usage = backend_->usage()) {
    return {{DeviceMemoryKind::kKeys, usage->key_bytes},
            {DeviceMemoryKind::kScratch, usage->scratch_bytes},
            {DeviceMemoryKind::kFree, usage->free_bytes},
            {DeviceMemoryKind::kLimit, usage->limit_bytes}};
  }
  uint64_t key_bytes = 0;
  MutexLock lock(mu_);
  for (const auto& [key, resident] : resident_) key_bytes += resident->device_bytes();
  return {{DeviceMemoryKind::kKeys, key_bytes}};
}

DeviceCounts Groth16Runner::Counts() const {
  const std::optional<DeviceUsage> usage = backend_->usage();
  if (!usage.has_value()) return {};
  return {.host_to_device_bytes = usage->host_to_device_bytes,
          .device_to_host_bytes = usage->device_to_host_bytes,
          .allocations = usage->allocations,
          .key_evictions = usage->key_evictions,
          .key_reloads = usage->key_reloads};
}

std::vector<CircuitKeyChange> Groth16Runner::TakeKeyChanges() {
  std::vector<CircuitKeyChange> changes;
  for (KeyEvent& event : backend_->TakeKeyEvents()) {
    CircuitKeyChange change{.circuit = "",
                            .change = ChangeOf(event.kind),
                            .bytes = event.bytes,
                            .duration = event.duration,
                            .plan = std::move(event.plan)};
    MutexLock lock(mu_);
    const auto found = names_.find(event.key.get());
    if (found != names_.end()) change.circuit = found->second;
    changes.push_back(std::move(change));
  }
  return changes;
}

absl::Status Groth16Runner::ProveCanary(const Circuit& circuit, ResidentKey& key) {
  const absl::Status status = Prove(*backend_, key, CanaryOf(circuit)).status();
  if (status.ok()) return status;
  if (GetReason(status) == ErrorReason::kSelfCheckFailed) {
    return WithReason(
        absl::FailedPreconditionError("the proof of the canary witness does not verify: the canary does not "
                                      "satisfy the circuit, or the key or the device is bad"),
        ErrorReason::kWitnessUnsatisfied);
  }
  absl::Status named(status.code(), absl::StrCat("canary witness: ", status.message()));
  const auto reason = GetReason(status);
  return reason.has_value() ? WithReason(std::move(named), *reason) : named;
}

RunOutcome Groth16Runner::Run(const Circuit& circuit, absl::Span<const kernels::U256> witness,
                              const RunContext& context) {
  RunOutcome outcome;
  const std::shared_ptr<ResidentKey> key = Find(circuit);
  if (key == nullptr) {
    outcome.status = WithReason(
        absl::InternalError(absl::StrCat("circuit ", circuit.id, " is not on device ", backend_->name())),
        ErrorReason::kInternal);
    return outcome;
  }
  ProveOptions options;
  options.cancel = &context.cancel;
  options.stages = &context.stages;
  options.witness_is_canonical = true;  // the engine admits no other
  absl::StatusOr<Groth16Proof> proof = Prove(*backend_, *key, witness, options);
  if (proof.ok()) {
    outcome.proof = *proof;
    outcome.public_signals = PublicSignals(*circuit.key, witness);
    return outcome;
  }
  if (GetReason(proof.status()) == ErrorReason::kSelfCheckFailed) {
    return ApplyCanaryRule(circuit, *key, witness, context);
  }
  return Failed(proof.status());
}

RunOutcome Groth16Runner::Failed(absl::Status status) const {
  RunOutcome outcome;
  if (GetReason(status) == ErrorReason::kDeviceFault) {
    const bool lost = backend_->lost();
    outcome.fault = DeviceFault{.error_class = lost ? DeviceErrorClass::kSticky : DeviceErrorClass::kLaunch,
                                .status = status,
                                .lost = lost};
  }
  outcome.status = std::move(status);
  return outcome;
}

RunOutcome Groth16Runner::ApplyCanaryRule(const Circuit& circuit, ResidentKey& key,
                                          absl::Span<const kernels::U256> witness,
                                          const RunContext& context) {
  RunOutcome outcome;
  const std::shared_ptr<const R1cs> constraints = ConstraintsOf(circuit);
  const Evidence evidence{
      .witness = witness, .canary = CanaryOf(circuit), .r1cs = constraints.get(), .cancel = &context.cancel};
  const absl::StatusOr<Verdict> verdict = FindBlame(*backend_, key, evidence);
  if (!verdict.ok()) return Failed(verdict.status());
  outcome.status = ToStatus(*verdict);
  if (verdict->blame == Blame::kWitness) {
    outcome.verdict = BlameVerdict::kWitness;
    return outcome;
  }
  outcome.verdict = BlameVerdict::kDevice;
  outcome.fault = DeviceFault{
      .error_class = DeviceErrorClass::kSelfCheck,
      .status = WithReason(absl::InternalError(verdict->explanation), ErrorReason::kSelfCheckFailed),
      .lost = backend_->lost()};
  return outcome;
}

std::shared_ptr<const R1cs> Groth16Runner::ConstraintsOf(const Circuit& circuit) {
  if (circuit.r1cs_path.empty()) return nullptr;
  MutexLock lock(constraints_mu_);
  if (constraints_version_ == circuit.version) return constraints_;
  constraints_.reset();
  constraints_version_ = circuit.version;
  // A file that cannot be used costs no more than the name of the constraint.
  const auto file = RandomAccessFile::Open(circuit.r1cs_path);
  if (!file.ok() || (*file)->size() > options_.r1cs_bytes_max) return nullptr;
  absl::StatusOr<R1cs> r1cs = ReadR1cs(**file);
  if (!r1cs.ok() || r1cs->n_wires != circuit.key->n_vars()) return nullptr;
  constraints_ = std::make_shared<const R1cs>(*std::move(r1cs));
  return constraints_;
}

std::vector<std::unique_ptr<JobRunner>> MakeGroth16Runners(
    std::vector<std::unique_ptr<Groth16Backend>> backends) {
  std::vector<std::unique_ptr<JobRunner>> runners;
  runners.reserve(backends.size());
  for (auto& backend : backends) runners.push_back(std::make_unique<Groth16Runner>(std::move(backend)));
  return runners;
}

}  // namespace proofmill::engine
