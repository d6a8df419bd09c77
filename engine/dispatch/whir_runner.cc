#include "engine/dispatch/whir_runner.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/backend/whir_backend.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/prover.h"
#include "engine/whir/verifier.h"

namespace proofmill::engine {
namespace {

// A device computes one proof at a time; others are on their way to it and from it.
constexpr size_t kJobsInFlightMax = 8;

using kernels::BabyBear;
using Polynomial = absl::Span<const BabyBear>;

template <typename F>
auto TimeStage(StageSink* sink, std::string_view stage, F&& body) {
  const auto start = std::chrono::steady_clock::now();
  auto result = body();
  if (sink != nullptr) sink->OnStage(stage, std::chrono::steady_clock::now() - start);
  return result;
}

// Proves and verifies.
//   INTERNAL kSelfCheckFailed  the proof does not verify.
//   INTERNAL kInternal         there is no proof, since no nonce passes a proof of work.
//   otherwise                  as WhirDevice::Prove().
absl::StatusOr<WhirProof> ProveChecked(WhirDevice& device, const WhirConfig& config, Polynomial polynomial,
                                       absl::Span<const WhirClaim> claims, const WhirProveOptions& options) {
  absl::StatusOr<WhirProof> proof = device.Prove(polynomial, claims, options);
  if (absl::IsAborted(proof.status())) {
    return WithReason(absl::InternalError(proof.status().message()), ErrorReason::kInternal);
  }
  if (!proof.ok()) return proof;
  const WhirVerdict verdict =
      TimeStage(options.stages, "self_check", [&] { return VerifyWhir(config, claims, *proof); });
  if (verdict.valid) return proof;
  return WithReason(absl::InternalError(absl::StrCat("the proof does not verify: ", verdict.rejected_at)),
                    ErrorReason::kSelfCheckFailed);
}

// The polynomial whose value at index i is i, and claims of it: its value at a point z is the sum of
// z_j 2^(n-1-j), so that nothing large has to be evaluated.
struct KnownCase {
  SecretBuffer<BabyBear> polynomial;
  std::vector<WhirClaim> claims;
};
KnownCase MakeKnownCase(const WhirConfig& config) {
  const WhirParameters& p = config.parameters;
  const uint32_t degree = config.degree();
  KnownCase out{.polynomial = SecretBuffer<BabyBear>(size_t{1} << p.num_variables), .claims = {}};
  for (size_t i = 0; i < out.polynomial.size(); ++i) {
    out.polynomial[i] = BabyBear::FromCanonical(static_cast<uint32_t>(i));
  }
  uint32_t coordinate = 1;
  for (uint32_t i = 0; i < p.num_claims; ++i) {
    WhirClaim& claim = out.claims.emplace_back();
    claim.value.assign(degree, BabyBear::Zero());
    for (uint32_t j = 0; j < p.num_variables; ++j) {
      const BabyBear place = BabyBear::FromCanonical(uint32_t{1} << (p.num_variables - 1 - j));
      for (uint32_t k = 0; k < degree; ++k) {
        claim.point.push_back(BabyBear::FromCanonical(coordinate++ % kernels::kBabyBearP));
        claim.value[k] += place * claim.point.back();
      }
    }
  }
  return out;
}

absl::Status ProveKnown(WhirDevice& device, const WhirConfig& config,
                        const WhirProveOptions& options = {}) try {
  const KnownCase known = MakeKnownCase(config);
  const absl::Status status =
      ProveChecked(device, config, {known.polynomial.data(), known.polynomial.size()}, known.claims, options)
          .status();
  if (GetReason(status) != ErrorReason::kSelfCheckFailed) return status;
  return WithReason(absl::InternalError(absl::StrCat("of a polynomial that is known ", status.message(),
                                                     ": the device is bad")),
                    ErrorReason::kSelfCheckFailed);
} catch (const std::bad_alloc&) {
  return WithReason(absl::ResourceExhaustedError(absl::StrCat("there is no memory for a polynomial of 2^",
                                                              config.parameters.num_variables, " values")),
                    ErrorReason::kOutOfMemory);
}

// `claims` with every value.
absl::Status FillValues(WhirDevice& device, const WhirConfig& config, Polynomial polynomial,
                        std::vector<WhirClaim>& claims) {
  std::vector<WhirClaim> open;
  for (const WhirClaim& claim : claims) {
    if (claim.value.empty()) open.push_back(claim);
  }
  if (open.empty()) return absl::OkStatus();
  PROOFMILL_ASSIGN_OR_RETURN(const WhirElements values, device.Evaluate(polynomial, open));
  auto next = values.begin();
  for (WhirClaim& claim : claims) {
    if (!claim.value.empty()) continue;
    claim.value.assign(next, next + config.degree());
    next += config.degree();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WhirRunner::Install(const Circuit& circuit) {
  WhirBackend* const whir = backend_.whir();
  if (whir == nullptr) {
    return WithReason(absl::UnimplementedError("this device makes no WHIR proofs"),
                      ErrorReason::kNotSupported);
  }
  PROOFMILL_ASSIGN_OR_RETURN(std::shared_ptr<WhirDevice> device, whir->LoadWhir(circuit.whir));
  const absl::Status known = ProveKnown(*device, *circuit.whir);
  MutexLock lock(mu_);
  canaries_.push_back({circuit.id, known.ok()});
  if (!known.ok()) return known;
  resident_.insert_or_assign(circuit.whir.get(), std::move(device));
  return absl::OkStatus();
}

bool WhirRunner::HasCanary(const Circuit& circuit) const {
  const std::shared_ptr<WhirDevice> device = Find(circuit);
  return device != nullptr && device->device_bytes() != 0;
}

RunOutcome WhirRunner::ProveCanary(const Circuit& circuit, const RunContext& context) {
  const std::shared_ptr<WhirDevice> device = Find(circuit);
  if (device == nullptr) return NotInstalled(circuit, backend_);
  WhirProveOptions options;
  options.stage_times = false;
  options.cancellation = &context.cancel;
  options.stages = &context.stages;
  absl::Status status = ProveKnown(*device, *circuit.whir, options);
  if (absl::IsCancelled(status)) return FailedRun(std::move(status), backend_);
  {
    MutexLock lock(mu_);
    canaries_.push_back({circuit.id, status.ok()});
  }
  if (GetReason(status) != ErrorReason::kSelfCheckFailed) return FailedRun(std::move(status), backend_);
  return DeviceBlamed(std::move(status), backend_);
}

std::vector<CanaryResult> WhirRunner::TakeCanaryResults() {
  MutexLock lock(mu_);
  return std::exchange(canaries_, {});
}

void WhirRunner::Remove(const Circuit& circuit) {
  std::shared_ptr<WhirDevice> removed;  // its memory is given back after the lock
  MutexLock lock(mu_);
  const auto found = resident_.find(circuit.whir.get());
  if (found == resident_.end()) return;
  removed = std::move(found->second);
  resident_.erase(found);
}

std::shared_ptr<WhirDevice> WhirRunner::Find(const Circuit& circuit) const {
  MutexLock lock(mu_);
  const auto found = resident_.find(circuit.whir.get());
  return found == resident_.end() ? nullptr : found->second;
}

size_t WhirRunner::JobsInFlight(const Circuit& /*circuit*/) const {
  return std::min(kJobsInFlightMax, backend_.proofs_in_flight());
}

uint64_t WhirRunner::resident_bytes() const {
  uint64_t bytes = 0;
  MutexLock lock(mu_);
  for (const auto& [config, device] : resident_) bytes += device->device_bytes();
  return bytes;
}

RunOutcome WhirRunner::Run(const Circuit& circuit, const ProofInput& input, const RunContext& context) {
  const std::shared_ptr<WhirDevice> device = Find(circuit);
  if (device == nullptr) return NotInstalled(circuit, backend_);
  const WhirConfig& config = *circuit.whir;
  const WhirInput& given = std::get<WhirInput>(input);
  const Polynomial polynomial(given.polynomial.data(), given.polynomial.size());
  std::vector<WhirClaim> claims = given.claims;
  if (absl::Status wanted = context.cancel.Check(); !wanted.ok())
    return FailedRun(std::move(wanted), backend_);
  const absl::Status filled =
      TimeStage(&context.stages, "evaluate", [&] { return FillValues(*device, config, polynomial, claims); });
  if (!filled.ok()) return FailedRun(filled, backend_);
  if (absl::Status wanted = context.cancel.Check(); !wanted.ok())
    return FailedRun(std::move(wanted), backend_);
  WhirProveOptions options;
  options.stage_times = false;
  options.cancellation = &context.cancel;
  options.stages = &context.stages;
  const absl::StatusOr<WhirProof> proof = ProveChecked(*device, config, polynomial, claims, options);
  if (GetReason(proof.status()) == ErrorReason::kSelfCheckFailed) return Blame(config, given);
  if (!proof.ok()) return FailedRun(proof.status(), backend_);
  RunOutcome outcome;
  outcome.output = WhirOutput{
      .commitment = proof->commitment, .claims = std::move(claims), .proof = EncodeWhirProof(config, *proof)};
  return outcome;
}

RunOutcome WhirRunner::Blame(const WhirConfig& config, const WhirInput& given) const {
  const Polynomial polynomial(given.polynomial.data(), given.polynomial.size());
  for (size_t i = 0; i < given.claims.size(); ++i) {
    const WhirClaim& claim = given.claims[i];
    if (claim.value.empty() || claim.value == EvaluateWhir(polynomial, claim.point, config.degree()))
      continue;
    RunOutcome outcome;
    outcome.verdict = BlameVerdict::kWitness;
    outcome.status = WithReason(absl::InvalidArgumentError(absl::StrCat(
                                    "claim ", i, ": expected the value of the polynomial, got another")),
                                ErrorReason::kWitnessUnsatisfied);
    return outcome;
  }
  return DeviceBlamed(
      WithReason(
          absl::InternalError("the proof does not verify although its claims hold: the device is to blame"),
          ErrorReason::kSelfCheckFailed),
      backend_);
}

}  // namespace proofmill::engine
