// WHIR on one backend: evaluates, proves, and finds out whose fault it is when a proof does not verify.
//
// A proof that fails its own check is never handed out. The claims decide then: a value that the client gave
// and that the polynomial does not have, as the host computes it, is the client's error; anything else is a
// fault of the device.
//
// Thread safety: as ProofRunner.

#ifndef PROOFMILL_ENGINE_DISPATCH_WHIR_RUNNER_H_
#define PROOFMILL_ENGINE_DISPATCH_WHIR_RUNNER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "engine/backend/backend.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/proof_data.h"
#include "engine/dispatch/proof_runner.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

class WhirRunner final : public ProofRunner {
 public:
  // `backend` outlives the runner.
  explicit WhirRunner(Groth16Backend& backend) : backend_(backend) {}

  // Proves a known polynomial once, so that the first request finds everything warm. It is the canary of its
  // circuit.
  absl::Status Install(const Circuit& circuit) override;
  void Remove(const Circuit& circuit) override;
  RunOutcome Run(const Circuit& circuit, const ProofInput& input, const RunContext& context) override;
  size_t JobsInFlight(const Circuit& circuit) const override;
  bool HasCanary(const Circuit& circuit) const override;
  RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) override;
  uint64_t resident_bytes() const override;
  std::vector<CanaryResult> TakeCanaryResults() override;

 private:
  std::shared_ptr<WhirDevice> Find(const Circuit& circuit) const;
  // Who is to blame for a proof of `claims` that does not verify; `given` are those that the client gave.
  RunOutcome Blame(const WhirConfig& config, const WhirInput& given) const;

  Groth16Backend& backend_;

  mutable Mutex mu_;
  absl::flat_hash_map<const WhirConfig*, std::shared_ptr<WhirDevice>> resident_ ABSL_GUARDED_BY(mu_);
  // One for each Install(), and at most one for each ProveCanary(), since TakeCanaryResults().
  std::vector<CanaryResult> canaries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_WHIR_RUNNER_H_
