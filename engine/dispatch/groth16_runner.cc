#include "engine/dispatch/groth16_runner.h"

#include <utility>
#include <variant>

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

// The constraints beside the key, or null when there are none that can be used: a file that cannot be costs
// no more than the name of a constraint.
std::shared_ptr<const R1cs> ReadConstraints(const Circuit& circuit, uint64_t bytes_max) {
  if (circuit.r1cs_path.empty()) return nullptr;
  const auto file = RandomAccessFile::Open(circuit.r1cs_path);
  if (!file.ok() || (*file)->size() > bytes_max) return nullptr;
  absl::StatusOr<R1cs> r1cs = ReadR1cs(**file);
  if (!r1cs.ok() || r1cs->n_wires != circuit.key->n_vars()) return nullptr;
  return std::make_shared<const R1cs>(*std::move(r1cs));
}

// Of a canary whose proof does not verify, as far as its constraints, if they are there, tell.
absl::Status CanaryDoesNotVerify(const Circuit& circuit, const R1cs* constraints) {
  std::string why = "the canary does not satisfy the circuit, or the key or the device is bad";
  if (constraints != nullptr) {
    const auto failing = FirstFailingConstraint(*constraints, CanaryOf(circuit));
    if (failing.ok() && failing->has_value()) {
      why = absl::StrCat("constraint ", **failing,
                         " of the .r1cs is the first that the canary does not satisfy");
    } else if (failing.ok()) {
      why =
          "the canary satisfies every constraint of the .r1cs, so the key is not of that .r1cs, or it or the "
          "device is bad";
    }
  }
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("the proof of the canary witness does not verify: ", why)),
      ErrorReason::kWitnessUnsatisfied);
}

}  // namespace

absl::Status Groth16Runner::Install(const Circuit& circuit) {
  PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<ResidentKey> key, backend_.LoadKey(circuit.key));
  circuit.key->MakeTables();
  if (circuit.canary != nullptr) PROOFMILL_RETURN_IF_ERROR(ProveFirstCanary(circuit, *key));
  MutexLock lock(mu_);
  resident_.insert_or_assign(circuit.key.get(), std::move(key));
  return absl::OkStatus();
}

void Groth16Runner::Remove(const Circuit& circuit) {
  {
    MutexLock lock(constraints_mu_);
    if (constraints_version_ == circuit.version) {
      constraints_version_.clear();
      constraints_.reset();
    }
  }
  std::shared_ptr<ResidentKey> removed;  // its memory is given back after the lock
  MutexLock lock(mu_);
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

size_t Groth16Runner::JobsInFlight(const Circuit& circuit) const {
  const std::shared_ptr<ResidentKey> key = Find(circuit);
  return key == nullptr ? backend_.proofs_in_flight() : backend_.ProofsInFlight(*key);
}

uint64_t Groth16Runner::resident_bytes() const {
  uint64_t bytes = 0;
  MutexLock lock(mu_);
  for (const auto& [key, resident] : resident_) bytes += resident->device_bytes();
  return bytes;
}

std::vector<CanaryResult> Groth16Runner::TakeCanaryResults() {
  MutexLock lock(mu_);
  return std::exchange(canaries_, {});
}

void Groth16Runner::NoteCanary(const Circuit& circuit, bool proved) {
  MutexLock lock(mu_);
  canaries_.push_back({circuit.id, proved});
}

absl::Status Groth16Runner::ProveFirstCanary(const Circuit& circuit, ResidentKey& key) {
  const absl::Status status = Prove(backend_, key, CanaryOf(circuit)).status();
  NoteCanary(circuit, status.ok());
  if (status.ok()) return status;
  if (GetReason(status) == ErrorReason::kSelfCheckFailed) {
    return CanaryDoesNotVerify(circuit, ReadConstraints(circuit, options_.r1cs_bytes_max).get());
  }
  absl::Status named(status.code(), absl::StrCat("canary witness: ", status.message()));
  const auto reason = GetReason(status);
  return reason.has_value() ? WithReason(std::move(named), *reason) : named;
}

bool Groth16Runner::HasCanary(const Circuit& circuit) const {
  if (circuit.canary == nullptr) return false;
  const std::shared_ptr<ResidentKey> key = Find(circuit);
  return key != nullptr && key->device_bytes() != 0;
}

RunOutcome Groth16Runner::ProveCanary(const Circuit& circuit, const RunContext& context) {
  const std::shared_ptr<ResidentKey> key = Find(circuit);
  if (key == nullptr) return NotInstalled(circuit, backend_);
  ProveOptions options;
  options.cancel = &context.cancel;
  options.stages = &context.stages;
  options.witness_is_canonical = true;  // it has been proved before
  absl::Status status = Prove(backend_, *key, CanaryOf(circuit), options).status();
  if (absl::IsCancelled(status)) return FailedRun(std::move(status), backend_);
  NoteCanary(circuit, status.ok());
  if (GetReason(status) != ErrorReason::kSelfCheckFailed) return FailedRun(std::move(status), backend_);
  return DeviceBlamed(WithReason(absl::InternalError("the proof of the canary witness does not verify"),
                                 ErrorReason::kSelfCheckFailed),
                      backend_);
}

RunOutcome Groth16Runner::Run(const Circuit& circuit, const ProofInput& input, const RunContext& context) {
  const std::shared_ptr<ResidentKey> key = Find(circuit);
  if (key == nullptr) return NotInstalled(circuit, backend_);
  const Witness& given = std::get<Witness>(input);
  const absl::Span<const kernels::U256> witness(given.values.data(), given.values.size());
  ProveOptions options;
  options.cancel = &context.cancel;
  options.stages = &context.stages;
  options.witness_is_canonical = true;  // the engine admits no other
  absl::StatusOr<Groth16Proof> proof = Prove(backend_, *key, witness, options);
  if (proof.ok()) {
    RunOutcome outcome;
    outcome.output = Groth16Output{*proof, PublicSignals(*circuit.key, witness)};
    return outcome;
  }
  if (GetReason(proof.status()) == ErrorReason::kSelfCheckFailed) {
    return ApplyCanaryRule(circuit, *key, witness, context);
  }
  return FailedRun(proof.status(), backend_);
}

RunOutcome Groth16Runner::ApplyCanaryRule(const Circuit& circuit, ResidentKey& key,
                                          absl::Span<const kernels::U256> witness,
                                          const RunContext& context) {
  const std::shared_ptr<const R1cs> constraints = ConstraintsOf(circuit);
  const Evidence evidence{
      .witness = witness, .canary = CanaryOf(circuit), .r1cs = constraints.get(), .cancel = &context.cancel};
  const absl::StatusOr<Verdict> verdict = FindBlame(backend_, key, evidence);
  if (!verdict.ok()) return FailedRun(verdict.status(), backend_);
  if (verdict->canary_proved.has_value()) NoteCanary(circuit, *verdict->canary_proved);
  if (verdict->blame == Blame::kDevice) return DeviceBlamed(ToStatus(*verdict), backend_);
  RunOutcome outcome;
  outcome.status = ToStatus(*verdict);
  outcome.verdict = BlameVerdict::kWitness;
  return outcome;
}

std::shared_ptr<const R1cs> Groth16Runner::ConstraintsOf(const Circuit& circuit) {
  if (circuit.r1cs_path.empty()) return nullptr;
  MutexLock lock(constraints_mu_);
  if (constraints_version_ == circuit.version) return constraints_;
  constraints_version_ = circuit.version;
  constraints_.reset();  // before others are read: there is memory for one of them
  constraints_ = ReadConstraints(circuit, options_.r1cs_bytes_max);
  return constraints_;
}

}  // namespace proofmill::engine
