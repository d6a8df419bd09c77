// The part of CircuitRegistry that changes what is served while the service runs.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/dispatch/circuit_errors.h"
#include "engine/dispatch/circuit_reader.h"
#include "engine/dispatch/circuit_registry.h"

namespace proofmill::engine {
namespace {

absl::Status AliasConflict(absl::string_view message) {
  return WithReason(absl::FailedPreconditionError(message), ErrorReason::kAliasConflict);
}

absl::Status Draining() {
  return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
}

}  // namespace

absl::StatusOr<CircuitPtr> CircuitRegistry::Load(std::string_view id) {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitName(id));
  MutexLock alias_lock(alias_mu_);
  absl::StatusOr<CircuitScan> scan = ScanCircuitDirectory(options_.directory);
  if (!scan.ok()) {
    return WithReason(absl::FailedPreconditionError("the folder of the circuits cannot be read"),
                      ErrorReason::kCircuitFailed);
  }
  const auto files = std::find_if(scan->circuits.begin(), scan->circuits.end(),
                                  [id](const CircuitFiles& found) { return found.id == id; });
  if (files == scan->circuits.end()) {
    return CircuitUnknown(absl::StrCat("no key of circuit ", std::string(id),
                                       " in the folder of the circuits: expected one of ", std::string(id),
                                       "/circuit.zkey, ", std::string(id), ".zkey, ", std::string(id),
                                       "/circuit.whir.json and ", std::string(id), ".whir.json"));
  }
  CircuitPtr circuit;
  {
    MutexLock lock(mu_);
    if (stopping_) return Draining();
    if (aliases_.find(id) != aliases_.end()) {
      return AliasConflict(absl::StrCat("expected a name that no alias has, got ", std::string(id)));
    }
    const auto known = circuits_.find(id);
    if (known != circuits_.end() && known->second.loading) return known->second.circuit;
    Circuit next = NewCircuit(*files);
    if (known != circuits_.end() && known->second.circuit->state == CircuitState::kReady) {
      next = *known->second.circuit;
      next.reloading = true;
      next.reload_failure = absl::OkStatus();
    }
    next.load_step = kLoadStepWaiting;
    circuit = PublishLocked(std::move(next));
    circuits_.find(id)->second.loading = true;
  }
  work_->Load(std::move(*files));
  Deliver();
  return circuit;
}

absl::StatusOr<CircuitPtr> CircuitRegistry::Unload(std::string_view id) {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitName(id));
  MutexLock alias_lock(alias_mu_);
  CircuitPtr circuit;
  {
    MutexLock lock(mu_);
    for (const auto& [alias, target] : aliases_) {
      if (target != id) continue;
      return AliasConflict(absl::StrCat("expected a circuit that no alias points to, got ", std::string(id),
                                        ", to which ", alias, " points"));
    }
    const auto entry = circuits_.find(id);
    if (entry == circuits_.end()) return CircuitUnknown(absl::StrCat("no such circuit: ", std::string(id)));
    if (entry->second.loading) return CircuitIsLoading(id);
    if (entry->second.circuit->state == CircuitState::kUnloading) return entry->second.circuit;
    Circuit next;
    next.id = std::string(id);
    next.system = entry->second.circuit->system;
    next.state = CircuitState::kUnloading;
    PublishLocked(std::move(next));
    circuit = EraseIfGoneLocked(entry);
  }
  Deliver();
  return circuit;
}

absl::StatusOr<std::string> CircuitRegistry::SetAlias(std::string_view alias, std::string_view id) {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitName(alias));
  MutexLock alias_lock(alias_mu_);
  CircuitAliases changed;
  std::string before;
  {
    MutexLock lock(mu_);
    if (circuits_.find(alias) != circuits_.end()) {
      return AliasConflict(absl::StrCat("expected a name that no circuit has, got ", std::string(alias)));
    }
    changed = aliases_;
    if (const auto known = changed.find(alias); known != changed.end()) before = known->second;
    if (id.empty()) {
      if (before.empty()) return CircuitUnknown(absl::StrCat("no such alias: ", std::string(alias)));
      changed.erase(std::string(alias));
    } else {
      if (circuits_.find(id) == circuits_.end())
        return CircuitUnknown(absl::StrCat("no such circuit: ", std::string(id)));
      PROOFMILL_RETURN_IF_ERROR(FindReadyLocked(id, "").status());
      changed[std::string(alias)] = std::string(id);
    }
  }
  if (changed.size() > kAliasesMax) {
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat("expected at most ", kAliasesMax, " aliases")),
        ErrorReason::kQuotaExceeded);
  }
  if (!options_.state_dir.empty()) {
    const absl::Status kept = WriteAliases(AliasesPath(options_.state_dir), changed);
    // Whatever the cause, it is in this process's surroundings: no memory is short and nobody's credential
    // bad.
    if (!kept.ok()) {
      return WithReason(absl::InternalError(absl::StrCat("the aliases cannot be kept: ", kept.message())),
                        ErrorReason::kInternal);
    }
  }
  MutexLock lock(mu_);
  aliases_ = std::move(changed);
  return before;
}

CircuitAliases CircuitRegistry::aliases() const {
  MutexLock lock(mu_);
  return aliases_;
}

}  // namespace proofmill::engine
