// Groth16 on one backend: proves, and finds out whose fault it is when a proof does not verify.
//
// A proof that fails its own check is never handed out. The canary rule (groth16/blame.h) then decides: a
// witness that does not satisfy its circuit is the client's error; anything else is a fault of the device.
//
// Thread safety: as ProofRunner.

#ifndef PROOFMILL_ENGINE_DISPATCH_GROTH16_RUNNER_H_
#define PROOFMILL_ENGINE_DISPATCH_GROTH16_RUNNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/backend/backend.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/proof_data.h"
#include "engine/dispatch/proof_runner.h"
#include "engine/formats/r1cs.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

class Groth16Runner final : public ProofRunner {
 public:
  struct Options {
    // Constraint systems are read when a witness has to be blamed, and the last one is kept. Larger files are
    // left alone: the constraint is not named then. Reading needs memory for twice the file.
    uint64_t r1cs_bytes_max = uint64_t{256} << 20;
  };

  // `backend` outlives the runner.
  Groth16Runner(Groth16Backend& backend, const Options& options) : backend_(backend), options_(options) {}

  absl::Status Install(const Circuit& circuit) override;
  void Remove(const Circuit& circuit) override;
  RunOutcome Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) override;
  size_t JobsInFlight(const Circuit& circuit) const override;
  bool HasCanary(const Circuit& circuit) const override;
  RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) override;
  uint64_t resident_bytes() const override;
  std::vector<CanaryResult> TakeCanaryResults() override;

 private:
  std::shared_ptr<ResidentKey> Find(const Circuit& circuit) const;
  absl::Status ProveFirstCanary(const Circuit& circuit, ResidentKey& key);
  void NoteCanary(const Circuit& circuit, bool proved);
  RunOutcome ApplyCanaryRule(const Circuit& circuit, ResidentKey& key,
                             absl::Span<const kernels::U256> witness, const RunContext& context);
  // The constraints of `circuit`, or null when there are none that can be used.
  std::shared_ptr<const R1cs> ConstraintsOf(const Circuit& circuit);

  Groth16Backend& backend_;
  const Options options_;

  mutable Mutex mu_;
  absl::flat_hash_map<const ProvingKey*, std::shared_ptr<ResidentKey>> resident_ ABSL_GUARDED_BY(mu_);
  // At most one for each Install(), Run() and ProveCanary() since TakeCanaryResults().
  std::vector<CanaryResult> canaries_ ABSL_GUARDED_BY(mu_);

  Mutex constraints_mu_;  // held while they are read
  std::string constraints_version_ ABSL_GUARDED_BY(constraints_mu_);
  std::shared_ptr<const R1cs> constraints_ ABSL_GUARDED_BY(constraints_mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_GROTH16_RUNNER_H_
