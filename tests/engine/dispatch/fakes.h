// What the tests of dispatch stand on: replies that are waited for, a device with programmable behaviour, an
// observer that adds up, and jobs made from nothing.

#ifndef PROOFMILL_TESTS_ENGINE_DISPATCH_FAKES_H_
#define PROOFMILL_TESTS_ENGINE_DISPATCH_FAKES_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/observer.h"
#include "engine/dispatch/prove_types.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

// Long enough for the slowest sanitizer on a busy machine; nothing waits so long unless it is broken.
inline constexpr std::chrono::seconds kPatience{120};

// A flag that threads wait for.
class Latch {
 public:
  void Open();
  // False if it was not opened in time.
  bool Wait(std::chrono::milliseconds patience = kPatience);
  bool IsOpen();

 private:
  Mutex mu_;
  CondVar opened_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
};

// Receives the callbacks of one request, and checks that they keep the promises of prove_types.h. Shares its
// state with the callbacks, so that either may go first.
class Reply {
 public:
  Reply() : state_(std::make_shared<State>()) {}

  ProveCallback done() const;
  ProgressCallback progress() const;

  // The result; fails the test and gives an error if none comes.
  absl::StatusOr<ProveResult> Wait() const;
  bool answered() const;
  // Fails the test if the callback ran more than once, or not at all.
  void ExpectAnsweredOnce() const;
  std::vector<Progress> progress_heard() const;

 private:
  struct State {
    Mutex mu;
    CondVar changed;
    std::vector<absl::StatusOr<ProveResult>> results ABSL_GUARDED_BY(mu);
    std::vector<Progress> progress ABSL_GUARDED_BY(mu);
    int calls_now ABSL_GUARDED_BY(mu) = 0;
  };
  std::shared_ptr<State> state_;
};

// A device that does what it is told.
class FakeRunner final : public JobRunner {
 public:
  // What Run() does; the default is EchoRun().
  using Behaviour =
      std::function<RunOutcome(const Circuit&, absl::Span<const kernels::U256>, const RunContext&)>;
  explicit FakeRunner(std::string name = "fake:0", Behaviour behaviour = nullptr, size_t jobs_in_flight = 1)
      : name_(std::move(name)), behaviour_(std::move(behaviour)), jobs_in_flight_(jobs_in_flight) {}

  DeviceInfo info() const override { return {.device = name_, .backend = "cpu", .gpu_uuid = ""}; }
  size_t jobs_in_flight() const override { return jobs_in_flight_; }
  size_t JobsInFlight(const Circuit&) const override { return std::min(of_circuit_.load(), jobs_in_flight_); }
  // Of one circuit fewer jobs are worth running at a time.
  void LimitJobsOfACircuit(size_t jobs) { of_circuit_ = jobs; }
  absl::Status Install(const Circuit&) override;
  void Remove(const Circuit&) override;
  RunOutcome Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) override;
  // Every circuit has a canary once SetCanary() said what becomes of it.
  bool HasCanary(const Circuit&) const override;
  RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) override;
  std::vector<DeviceMemory> Memory() const override { return {{DeviceMemoryKind::kKeys, 1}}; }

  void FailInstallsWith(absl::Status status);
  using Canary = std::function<RunOutcome(const Circuit&, const RunContext&)>;
  void SetCanary(Canary canary);
  int installed() const;

 private:
  const std::string name_;
  const Behaviour behaviour_;
  const size_t jobs_in_flight_;
  std::atomic<size_t> of_circuit_{std::numeric_limits<size_t>::max()};
  mutable Mutex mu_;
  absl::Status install_status_ ABSL_GUARDED_BY(mu_);
  Canary canary_ ABSL_GUARDED_BY(mu_);
  int installed_ ABSL_GUARDED_BY(mu_) = 0;
};

// Succeeds, and gives the second value of the witness back as the one public signal.
RunOutcome EchoRun(absl::Span<const kernels::U256> witness);
RunOutcome FaultyRun(DeviceErrorClass error_class, bool lost = false);
// Ends as a prover would that looks at the token between its stages, and only then.
RunOutcome RunUntilCancelled(const RunContext& context);

// What a Groth16 result holds; std::bad_variant_access for another.
inline const Groth16Output& Groth16Of(const ProveResult& result) {
  return std::get<Groth16Output>(result.output);
}

// Value `i` of the Groth16 witness of `request`.
inline kernels::U256& ValueOf(ProveRequest& request, size_t i) {
  return std::get<Witness>(request.witness).values[i];
}

// Adds up what it is told.
class CountingObserver final : public Observer {
 public:
  void OnQueueDepthChange(Priority priority, int change) override;
  void OnWitnessBytesChange(int64_t change) override;
  void OnJobDropped(const JobInfo&, DropReason reason) override;
  void OnJobStarted(const JobInfo&, const DeviceInfo&, std::chrono::nanoseconds) override;
  void OnStage(const JobInfo&, const DeviceInfo&, std::string_view stage, std::chrono::nanoseconds) override;
  void OnJobFinished(const JobInfo&, const DeviceInfo&, const absl::Status&,
                     std::chrono::nanoseconds) override;
  void OnBlame(const JobInfo&, const DeviceInfo&, BlameVerdict verdict) override;
  void OnDeviceUp(const DeviceInfo& device, bool up, std::string_view why) override;
  void OnDeviceError(const DeviceInfo&, DeviceErrorClass error_class, const absl::Status&) override;
  void OnCircuit(const Circuit& circuit) override;
  void OnCircuitFileIgnored(std::string_view name, std::string_view why) override;

  struct Totals {
    std::array<int, kPriorityCount> depth{};
    int64_t witness_bytes = 0;
    int started = 0;
    int finished = 0;
    std::map<std::string, int> dropped, stages, errors, blamed;
    std::map<std::string, bool> device_up;
    std::map<std::string, std::string> circuits;  // the last state
    std::vector<std::string> circuit_history;     // "id state", where that changed
    std::map<std::string, std::string> ignored;
  };
  Totals totals() const;

 private:
  mutable Mutex mu_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
};

// A circuit without a key, for what never looks at it.
CircuitPtr FakeCircuit(std::string id = "fake");
// 1, `second`, 0, 0, ...
Witness FakeWitness(uint64_t second = 0, size_t values = 2);

// A Groth16 job of that circuit, as Job::Params has it.
struct FakeJobParams {
  uint64_t second = 0;  // value of the witness
  Reservation reservation = {};
  Priority priority = Priority::kNormal;
  std::string tenant = {};
  double weight = 1;
  std::string request_id = {};
  Clock::duration expected_run{0};
  size_t slots = 1;
};
std::shared_ptr<Job> FakeJob(Clock::time_point enqueue_time, FakeJobParams params = {});

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_DISPATCH_FAKES_H_
