#include "tests/engine/dispatch/fakes.h"

#include <thread>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

using std::chrono::steady_clock;

}  // namespace

void Latch::Open() {
  MutexLock lock(mu_);
  open_ = true;
  opened_.NotifyAll();
}

bool Latch::Wait(std::chrono::milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  MutexLock lock(mu_);
  while (!open_ && opened_.WaitUntil(mu_, deadline)) {
  }
  return open_;
}

bool Latch::IsOpen() {
  MutexLock lock(mu_);
  return open_;
}

ProveCallback Reply::done() const {
  return [state = state_](absl::StatusOr<ProveResult> result) {
    MutexLock lock(state->mu);
    EXPECT_EQ(state->calls_now, 0) << "callbacks of one request overlap";
    state->results.push_back(std::move(result));
    state->changed.NotifyAll();
  };
}

ProgressCallback Reply::progress() const {
  return [state = state_](const Progress& progress) {
    {
      MutexLock lock(state->mu);
      EXPECT_EQ(state->calls_now++, 0) << "callbacks of one request overlap";
      EXPECT_TRUE(state->results.empty()) << "progress after the result";
      state->progress.push_back(progress);
    }
    std::this_thread::yield();  // an invitation for others to overlap
    MutexLock lock(state->mu);
    --state->calls_now;
  };
}

absl::StatusOr<ProveResult> Reply::Wait() const {
  const auto deadline = steady_clock::now() + kPatience;
  MutexLock lock(state_->mu);
  while (state_->results.empty() && state_->changed.WaitUntil(state_->mu, deadline)) {
  }
  if (!state_->results.empty()) return state_->results.front();
  ADD_FAILURE() << "no answer came";
  return absl::InternalError("no answer came");
}

bool Reply::answered() const {
  MutexLock lock(state_->mu);
  return !state_->results.empty();
}

void Reply::ExpectAnsweredOnce() const {
  MutexLock lock(state_->mu);
  EXPECT_EQ(state_->results.size(), 1u);
}

std::vector<Progress> Reply::progress_heard() const {
  MutexLock lock(state_->mu);
  return state_->progress;
}

absl::Status FakeRunner::Install(const Circuit&) {
  MutexLock lock(mu_);
  if (install_status_.ok()) ++installed_;
  return install_status_;
}

void FakeRunner::Remove(const Circuit&) {
  MutexLock lock(mu_);
  --installed_;
}

RunOutcome FakeRunner::Run(const Circuit& circuit, const ProofInput& input, const RunContext& context) {
  const Witness& given = std::get<Witness>(input);
  const absl::Span<const kernels::U256> witness(given.values.data(), given.values.size());
  return behaviour_ ? behaviour_(circuit, witness, context) : EchoRun(witness);
}

bool FakeRunner::HasCanary(const Circuit&) const {
  MutexLock lock(mu_);
  return canary_ != nullptr;
}

RunOutcome FakeRunner::ProveCanary(const Circuit& circuit, const RunContext& context) {
  Canary canary;
  {
    MutexLock lock(mu_);
    canary = canary_;
  }
  return canary(circuit, context);
}

void FakeRunner::SetCanary(Canary canary) {
  MutexLock lock(mu_);
  canary_ = std::move(canary);
}

void FakeRunner::FailInstallsWith(absl::Status status) {
  MutexLock lock(mu_);
  install_status_ = std::move(status);
}

int FakeRunner::installed() const {
  MutexLock lock(mu_);
  return installed_;
}

RunOutcome EchoRun(absl::Span<const kernels::U256> witness) {
  RunOutcome outcome;
  outcome.output = Groth16Output{{}, {kernels::Fr::FromPlain(witness[1])}};
  return outcome;
}

RunOutcome FaultyRun(DeviceErrorClass error_class, bool lost) {
  RunOutcome outcome;
  outcome.status = WithReason(absl::InternalError("the fake device failed"), ErrorReason::kDeviceFault);
  outcome.fault = DeviceFault{.error_class = error_class, .status = outcome.status, .lost = lost};
  return outcome;
}

RunOutcome RunUntilCancelled(const RunContext& context) {
  RunOutcome outcome;
  while (outcome.status.ok()) {
    outcome.status = context.cancel.Check();
    std::this_thread::yield();
  }
  return outcome;
}

void CountingObserver::OnQueueDepthChange(Priority priority, int change) {
  MutexLock lock(mu_);
  totals_.depth[static_cast<size_t>(priority)] += change;
}
void CountingObserver::OnWitnessBytesChange(int64_t change) {
  MutexLock lock(mu_);
  totals_.witness_bytes += change;
}
void CountingObserver::OnJobDropped(const JobInfo&, DropReason reason) {
  MutexLock lock(mu_);
  ++totals_.dropped[std::string(DropReasonName(reason))];
}
void CountingObserver::OnJobStarted(const JobInfo&, const DeviceInfo&, std::chrono::nanoseconds) {
  MutexLock lock(mu_);
  ++totals_.started;
}
void CountingObserver::OnStage(const JobInfo&, const DeviceInfo&, std::string_view stage,
                               std::chrono::nanoseconds) {
  MutexLock lock(mu_);
  ++totals_.stages[std::string(stage)];
}
void CountingObserver::OnJobFinished(const JobInfo&, const DeviceInfo&, const absl::Status&,
                                     std::chrono::nanoseconds) {
  MutexLock lock(mu_);
  ++totals_.finished;
}
void CountingObserver::OnBlame(const JobInfo&, const DeviceInfo&, BlameVerdict verdict) {
  MutexLock lock(mu_);
  ++totals_.blamed[std::string(BlameVerdictName(verdict))];
}
void CountingObserver::OnDeviceUp(const DeviceInfo& device, bool up, std::string_view why) {
  EXPECT_EQ(up, why.empty());
  MutexLock lock(mu_);
  totals_.device_up[std::string(device.device)] = up;
}
void CountingObserver::OnDeviceError(const DeviceInfo&, DeviceErrorClass error_class, const absl::Status&) {
  MutexLock lock(mu_);
  ++totals_.errors[std::string(DeviceErrorClassName(error_class))];
}
void CountingObserver::OnCircuit(const Circuit& circuit) {
  const std::string state(CircuitStateName(circuit.state));
  MutexLock lock(mu_);
  std::string& last = totals_.circuits[circuit.id];
  if (last != state) totals_.circuit_history.push_back(circuit.id + " " + state);
  last = state;
}
void CountingObserver::OnCircuitFileIgnored(std::string_view name, std::string_view why) {
  MutexLock lock(mu_);
  totals_.ignored[std::string(name)] = std::string(why);
}

CountingObserver::Totals CountingObserver::totals() const {
  MutexLock lock(mu_);
  return totals_;
}

CircuitPtr FakeCircuit(std::string id) {
  auto circuit = std::make_shared<Circuit>();
  circuit->id = std::move(id);
  circuit->state = CircuitState::kReady;
  circuit->version = "version of " + circuit->id;
  return circuit;
}

Witness FakeWitness(uint64_t second, size_t values) {
  Witness witness;
  witness.values = SecretBuffer<kernels::U256>(values);
  for (kernels::U256& value : witness.values) value = kernels::U256{};
  if (values > 0) witness.values[0] = kernels::U256{{1, 0, 0, 0}};
  if (values > 1) witness.values[1] = kernels::U256{{second, 0, 0, 0}};
  return witness;
}

std::shared_ptr<Job> FakeJob(Clock::time_point enqueue_time, FakeJobParams params) {
  return std::make_shared<Job>(Job::Params{.circuit = FakeCircuit(),
                                           .witness = FakeWitness(params.second),
                                           .reservation = std::move(params.reservation),
                                           .priority = params.priority,
                                           .tenant = std::move(params.tenant),
                                           .weight = params.weight,
                                           .request_id = std::move(params.request_id),
                                           .enqueue_time = enqueue_time,
                                           .expected_run = params.expected_run,
                                           .slots = params.slots});
}

}  // namespace proofmill::engine
