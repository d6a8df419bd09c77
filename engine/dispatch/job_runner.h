// The seam between a worker and what it drives: one device that can hold circuits and run jobs.
//
// device_runner.h puts it over a backend; tests put programmable delays and failures behind it.
//
// Thread safety: Run() is called by as many threads at a time as jobs_in_flight() says; Install() and
// Remove() may be called by any other thread meanwhile, for other circuits; the rest at any time.

#ifndef PROOFMILL_ENGINE_DISPATCH_JOB_RUNNER_H_
#define PROOFMILL_ENGINE_DISPATCH_JOB_RUNNER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/base/cancellation.h"
#include "engine/base/stage_sink.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/observer.h"
#include "engine/dispatch/proof_data.h"

namespace proofmill::engine {

struct RunContext {
  const CancellationToken& cancel;
  StageSink& stages;
};

// Something that the device did wrong.
struct DeviceFault {
  DeviceErrorClass error_class;
  absl::Status status;
  // Nothing will work on this device again in this process.
  bool lost = false;
};

struct RunOutcome {
  // OK: the output is set, and its proof has been verified.
  absl::Status status;
  ProofOutput output;
  // Set when a proof did not verify: who is to blame.
  std::optional<BlameVerdict> verdict;
  // Set when the device is to blame for `status`: the job may be run on another one.
  std::optional<DeviceFault> fault;
};

struct DeviceMemory {
  DeviceMemoryKind kind;
  uint64_t bytes;
};

// As KeyChangeInfo.
struct CircuitKeyChange {
  std::string circuit;
  KeyChange change = KeyChange::kLoaded;
  uint64_t bytes = 0;
  std::chrono::nanoseconds duration{0};
  std::string plan;
};

// How the proof of a circuit's canary ended.
struct CanaryResult {
  std::string circuit;
  bool proved = false;
};

class JobRunner {
 public:
  virtual ~JobRunner() = default;

  // The views live as long as the runner.
  virtual DeviceInfo info() const = 0;
  // Jobs that the device works on at a time. Does not change.
  virtual size_t jobs_in_flight() const { return 1; }
  // The same for jobs of one circuit: at least 1, and at most that, or just that where it is not installed.
  virtual size_t JobsInFlight(const Circuit& /*circuit*/) const { return jobs_in_flight(); }

  // Makes the circuit's key resident and proves its canary once, if it has one. REQUIRES: the circuit is
  // loaded.
  //   RESOURCE_EXHAUSTED                       the device has no room for the key.
  //   FAILED_PRECONDITION WITNESS_UNSATISFIED  the canary cannot be proved: canary, key or device is bad.
  //   otherwise                                the device failed.
  virtual absl::Status Install(const Circuit& circuit) = 0;

  // Undoes Install(); no effect if it failed. REQUIRES: no job of the circuit is running or will be run.
  virtual void Remove(const Circuit& circuit) = 0;

  // Runs one job of an installed circuit. May throw what libraries throw (std::bad_alloc).
  virtual RunOutcome Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) = 0;

  // Whether the circuit is installed, has a canary, and that can be proved without another circuit's key
  // giving way on the device.
  virtual bool HasCanary(const Circuit& circuit) const = 0;
  // Proves the canary of an installed circuit that has one, as Run() would; the output stays empty. A proof
  // that does not verify is the device's fault, since the canary was proved when the circuit was installed.
  virtual RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) = 0;

  // What is in use now.
  virtual std::vector<DeviceMemory> Memory() const = 0;
  // What the device did so far; zeros where nobody counts.
  virtual DeviceCounts Counts() const { return {}; }
  // What happened to the keys of circuits since the last call, in order.
  virtual std::vector<CircuitKeyChange> TakeKeyChanges() { return {}; }
  // The canaries that were tried since the last call, in order.
  virtual std::vector<CanaryResult> TakeCanaryResults() { return {}; }
};

// Tells `observer` what `runner` has to tell: memory, counts, and what happened to keys and canaries.
void ReportDevice(JobRunner& runner, Observer& observer);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_JOB_RUNNER_H_
