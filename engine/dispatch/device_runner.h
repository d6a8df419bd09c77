// Runs the jobs of all proof systems on one backend, and tells what the device does.
//
// Thread safety: as JobRunner.

#ifndef PROOFMILL_ENGINE_DISPATCH_DEVICE_RUNNER_H_
#define PROOFMILL_ENGINE_DISPATCH_DEVICE_RUNNER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "engine/backend/backend.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/proof_data.h"
#include "engine/dispatch/proof_runner.h"
#include "engine/dispatch/proof_system.h"

namespace proofmill::engine {

class DeviceRunner final : public JobRunner {
 public:
  struct Options {
    // As Groth16Runner::Options.
    uint64_t r1cs_bytes_max = uint64_t{256} << 20;
  };

  DeviceRunner(std::unique_ptr<Groth16Backend> backend, Options options);
  explicit DeviceRunner(std::unique_ptr<Groth16Backend> backend)
      : DeviceRunner(std::move(backend), Options()) {}

  DeviceInfo info() const override;
  absl::Status Install(const Circuit& circuit) override;
  void Remove(const Circuit& circuit) override;
  RunOutcome Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) override;
  bool HasCanary(const Circuit& circuit) const override;
  RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) override;
  size_t jobs_in_flight() const override { return backend_->proofs_in_flight(); }
  size_t JobsInFlight(const Circuit& circuit) const override {
    return runner(circuit.system).JobsInFlight(circuit);
  }
  std::vector<DeviceMemory> Memory() const override;
  DeviceCounts Counts() const override;
  std::vector<CircuitKeyChange> TakeKeyChanges() override;
  std::vector<CanaryResult> TakeCanaryResults() override;

 private:
  ProofRunner& runner(ProofSystem system) const { return *runners_[static_cast<size_t>(system)]; }

  const std::unique_ptr<Groth16Backend> backend_;
  const std::array<std::unique_ptr<ProofRunner>, kProofSystemCount> runners_;  // end before the backend

  mutable Mutex mu_;
  // The circuits that are installed or being installed. By key, not by id: a circuit that is loaded anew
  // under its id is another one.
  absl::flat_hash_map<const void*, std::string> names_ ABSL_GUARDED_BY(mu_);
};

// One runner for each backend.
std::vector<std::unique_ptr<JobRunner>> MakeDeviceRunners(
    std::vector<std::unique_ptr<Groth16Backend>> backends);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_DEVICE_RUNNER_H_
