#include "engine/dispatch/device_runner.h"

#include <optional>
#include <utility>

#include "engine/dispatch/groth16_runner.h"
#include "engine/dispatch/whir_runner.h"

namespace proofmill::engine {
namespace {

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

// By ProofSystem.
std::array<std::unique_ptr<ProofRunner>, kProofSystemCount> MakeRunners(
    Groth16Backend& backend, const DeviceRunner::Options& options) {
  return {std::make_unique<Groth16Runner>(backend,
                                          Groth16Runner::Options{.r1cs_bytes_max = options.r1cs_bytes_max}),
          std::make_unique<WhirRunner>(backend)};
}

}  // namespace

DeviceRunner::DeviceRunner(std::unique_ptr<Groth16Backend> backend, Options options)
    : backend_(std::move(backend)), runners_(MakeRunners(*backend_, options)) {}

DeviceInfo DeviceRunner::info() const {
  return {.device = backend_->name(),
          .backend = backend_->kind() == BackendKind::kCpu ? "cpu" : "cuda",
          .gpu_uuid = backend_->gpu_uuid()};
}

absl::Status DeviceRunner::Install(const Circuit& circuit) {
  {
    MutexLock lock(mu_);
    names_.insert_or_assign(circuit.key_address(), circuit.id);  // for what happens while it is loaded
  }
  absl::Status status = runner(circuit.system).Install(circuit);
  if (status.ok()) return status;
  MutexLock lock(mu_);
  names_.erase(circuit.key_address());
  return status;
}

void DeviceRunner::Remove(const Circuit& circuit) {
  runner(circuit.system).Remove(circuit);
  MutexLock lock(mu_);
  names_.erase(circuit.key_address());
}

RunOutcome DeviceRunner::Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) {
  return runner(circuit.system).Run(circuit, witness, context);
}

bool DeviceRunner::HasCanary(const Circuit& circuit) const {
  return runner(circuit.system).HasCanary(circuit);
}

RunOutcome DeviceRunner::ProveCanary(const Circuit& circuit, const RunContext& context) {
  return runner(circuit.system).ProveCanary(circuit, context);
}

std::vector<DeviceMemory> DeviceRunner::Memory() const {
  if (const std::optional<DeviceUsage> usage = backend_->usage()) {
    return {{DeviceMemoryKind::kKeys, usage->key_bytes},
            {DeviceMemoryKind::kScratch, usage->scratch_bytes},
            {DeviceMemoryKind::kFree, usage->free_bytes},
            {DeviceMemoryKind::kLimit, usage->limit_bytes}};
  }
  uint64_t key_bytes = 0;
  for (const std::unique_ptr<ProofRunner>& runner : runners_) key_bytes += runner->resident_bytes();
  return {{DeviceMemoryKind::kKeys, key_bytes}};
}

DeviceCounts DeviceRunner::Counts() const {
  const std::optional<DeviceUsage> usage = backend_->usage();
  if (!usage.has_value()) return {};
  return {.host_to_device_bytes = usage->host_to_device_bytes,
          .device_to_host_bytes = usage->device_to_host_bytes,
          .allocations = usage->allocations,
          .key_evictions = usage->key_evictions,
          .key_reloads = usage->key_reloads,
          .batches = usage->batches,
          .batched_proofs = usage->batched_proofs};
}

std::vector<CircuitKeyChange> DeviceRunner::TakeKeyChanges() {
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

std::vector<CanaryResult> DeviceRunner::TakeCanaryResults() {
  std::vector<CanaryResult> results;
  for (const std::unique_ptr<ProofRunner>& runner : runners_) {
    for (CanaryResult& result : runner->TakeCanaryResults()) results.push_back(std::move(result));
  }
  return results;
}

std::vector<std::unique_ptr<JobRunner>> MakeDeviceRunners(
    std::vector<std::unique_ptr<Groth16Backend>> backends) {
  std::vector<std::unique_ptr<JobRunner>> runners;
  runners.reserve(backends.size());
  for (auto& backend : backends) runners.push_back(std::make_unique<DeviceRunner>(std::move(backend)));
  return runners;
}

}  // namespace proofmill::engine
