// One proof system at work on one device. A device has one of these for each system (device_runner.h).
//
// Thread safety: as JobRunner.

#ifndef PROOFMILL_ENGINE_DISPATCH_PROOF_RUNNER_H_
#define PROOFMILL_ENGINE_DISPATCH_PROOF_RUNNER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "engine/backend/backend.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/proof_data.h"

namespace proofmill::engine {

class ProofRunner {
 public:
  virtual ~ProofRunner() = default;

  // As those of JobRunner. REQUIRES: the circuit, and the input, are of this proof system.
  virtual absl::Status Install(const Circuit& circuit) = 0;
  virtual void Remove(const Circuit& circuit) = 0;
  virtual RunOutcome Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) = 0;
  virtual bool HasCanary(const Circuit& circuit) const = 0;
  virtual RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) = 0;

  // As that of JobRunner.
  virtual size_t JobsInFlight(const Circuit& circuit) const = 0;

  // Bytes that installed circuits take on the device between proofs.
  virtual uint64_t resident_bytes() const = 0;
  // As that of JobRunner.
  virtual std::vector<CanaryResult> TakeCanaryResults() { return {}; }
};

// The outcome of a job that ended with `status`; a fault if that is the device's.
RunOutcome FailedRun(absl::Status status, const Groth16Backend& backend);
// The outcome of a job or a canary whose proof did not verify though what was to be proved is good.
RunOutcome DeviceBlamed(absl::Status status, const Groth16Backend& backend);
// The outcome of a job whose circuit is not installed on `backend`.
RunOutcome NotInstalled(const Circuit& circuit, const Groth16Backend& backend);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_PROOF_RUNNER_H_
