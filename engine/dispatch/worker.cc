#include "engine/dispatch/worker.h"

#include <exception>
#include <functional>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/error_reason.h"
#include "engine/base/thread.h"

namespace proofmill::engine {
namespace {

// Looks in the time that a stage may take at most.
constexpr int kLooksPerStage = 8;

// Keeps the times of the stages, and passes them on to the observer and to the clients that wait. `on_stage`
// is called with each.
class StageRecorder final : public StageSink {
 public:
  StageRecorder(Job& job, const DeviceInfo& device, Dispatcher& dispatcher, Observer& observer,
                std::function<void()> on_stage)
      : job_(job),
        device_(device),
        dispatcher_(dispatcher),
        observer_(observer),
        on_stage_(std::move(on_stage)) {}

  void OnStage(std::string_view stage, std::chrono::nanoseconds duration) override {
    on_stage_();
    std::string name(stage);
    observer_.OnStage(job_.info(), device_, name, duration);
    job_.ReportStage(name);
    dispatcher_.ReportProgress(job_);
    times_.push_back({std::move(name), duration});
  }

  std::vector<StageTime> TakeTimes() { return std::move(times_); }

 private:
  Job& job_;
  const DeviceInfo& device_;
  Dispatcher& dispatcher_;
  Observer& observer_;
  const std::function<void()> on_stage_;
  std::vector<StageTime> times_;
};

// Tells of each stage that it has ended, and nobody how long it took: times are those of clients' proofs.
class CanaryStages final : public StageSink {
 public:
  explicit CanaryStages(std::function<void()> on_stage) : on_stage_(std::move(on_stage)) {}
  void OnStage(std::string_view, std::chrono::nanoseconds) override { on_stage_(); }

 private:
  const std::function<void()> on_stage_;
};

absl::Status OutOfMemory() {
  return WithReason(absl::ResourceExhaustedError("memory ran out while the proof was made"),
                    ErrorReason::kOutOfMemory);
}

}  // namespace

Worker::Worker(Options options, std::unique_ptr<JobRunner> runner, Context context)
    : options_(std::move(options)),
      runner_(std::move(runner)),
      context_(context),
      device_(runner_->info()),
      stage_starts_(options_.threads) {
  if (options_.canary_interval.has_value()) canaries_.emplace(*options_.canary_interval);
}

Worker::~Worker() = default;

void Worker::Start() {
  context_.observer.OnDeviceUp(device_, true, "");
  context_.health.SetDevice(std::string(device_.device), true, "");
  if (canaries_.has_value()) SetCanaryDue(canaries_->PauseAfter(Clock::duration{0}));
  for (size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this, index = options_.index + i] {
      SetThreadName(options_.thread_name);
      Work(index);
    });
  }
  if (!options_.stage_max.has_value()) return;
  watch_ = std::thread([this] {
    SetThreadName("pm-watch");
    Watch();
  });
}

void Worker::Work(size_t index) {
  JobQueue& queue = context_.dispatcher.queue();
  while (true) {
    CancellationToken cancel_spare;
    const JobQueue::Turn turn = queue.PopOrSpare(index, cancel_spare);
    if (turn.job != nullptr) {
      RunJob(index, turn.job);
    } else if (turn.spare) {
      ProveCanary(index, cancel_spare);
    } else {
      return;
    }
  }
}

void Worker::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  {
    MutexLock lock(mu_);
    joined_ = true;
    joined_changed_.NotifyAll();
  }
  if (watch_.joinable()) watch_.join();
}

void Worker::Watch() {
  const Clock::duration period = *options_.stage_max / kLooksPerStage;
  while (true) {
    {
      MutexLock lock(mu_);
      while (!joined_ && !out_of_service_.has_value() && !HangsLocked()) {
        context_.clock.WaitUntil(joined_changed_, mu_, context_.clock.Now() + period);
      }
      if (joined_ || out_of_service_.has_value()) return;
    }
    try {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*options_.stage_max).count();
      const absl::Status status = WithReason(
          absl::InternalError(absl::StrCat("it hangs: no stage of a proof has ended for ", seconds, " s")),
          ErrorReason::kDeviceFault);
      context_.observer.OnDeviceError(device_, DeviceErrorClass::kTimeout, status);
      TakeBlame({.error_class = DeviceErrorClass::kTimeout, .status = status, .lost = true});
      return;
    } catch (const std::bad_alloc&) {
      // Then at the next look.
    }
  }
}

bool Worker::HangsLocked() const {
  const Clock::time_point now = context_.clock.Now();
  for (const std::optional<Clock::time_point>& start : stage_starts_) {
    if (start.has_value() && now - *start >= *options_.stage_max) return true;
  }
  return false;
}

void Worker::SetStageStart(size_t index, std::optional<Clock::time_point> start) {
  MutexLock lock(mu_);
  stage_starts_[index - options_.index] = start;
}

std::optional<std::string> Worker::out_of_service() const {
  MutexLock lock(mu_);
  return out_of_service_;
}

bool Worker::RunOne() {
  const JobPtr job = context_.dispatcher.queue().TryPop(options_.index);
  if (job == nullptr) return false;
  RunJob(options_.index, job);
  return true;
}

void Worker::RunJob(size_t index, const JobPtr& job) {
  Dispatcher& dispatcher = context_.dispatcher;
  job->ReleaseJobSlot();
  context_.observer.OnQueueDepthChange(job->priority(), -1);
  dispatcher.PlacesChanged();
  dispatcher.ExpireTickets(*job);
  if (!job->Start()) {  // expired, or given up between Pop() and here
    job->DropWitness();
    dispatcher.queue().Done(index);
    return;
  }
  const Clock::time_point start = context_.clock.Now();
  const auto queue_wait = start - job->enqueue_time();
  context_.observer.OnJobStarted(job->info(), device_, queue_wait);
  dispatcher.ReportProgress(*job);

  SetStageStart(index, start);
  StageRecorder stages(*job, device_, dispatcher, context_.observer,
                       [this, index] { SetStageStart(index, context_.clock.Now()); });
  RunOutcome outcome = Guarded([&] {
    return runner_->Run(job->circuit(), job->witness(), {job->cancellation(), stages});
  });
  SetStageStart(index, std::nullopt);

  const Clock::duration run_time = context_.clock.Now() - start;
  context_.observer.OnJobFinished(job->info(), device_, outcome.status, run_time);
  ObserveFault(job->info(), outcome);
  if (outcome.status.ok()) {
    NoteProof();
    Learn(*job, run_time);
  }
  const std::optional<DeviceFault> fault = outcome.fault;
  const bool elsewhere = fault.has_value() && RunElsewhere(index, job);
  if (!elsewhere) {
    dispatcher.Complete(*job,
                        MakeResult(*job, std::move(outcome), {stages.TakeTimes(), queue_wait, run_time}));
  }
  // Takes locks of the device, so nobody waits for it; and before Done(), so that an idle engine has told
  // all.
  Report();
  if (!elsewhere) dispatcher.queue().Done(index);
  if (fault.has_value()) TakeBlame(*fault);
}

void Worker::NoteProof() {
  {
    MutexLock lock(mu_);
    faults_in_a_row_ = 0;
    last_proof_ = absl::Now();
  }
  if (options_.canary_interval.has_value()) SetCanaryDue(*options_.canary_interval);
}

std::optional<absl::Time> Worker::last_proof() const {
  MutexLock lock(mu_);
  return last_proof_;
}

void Worker::SetCanaryDue(Clock::duration pause) {
  context_.dispatcher.queue().SetSpareDue(options_.index, context_.clock.Now() + pause);
}

void Worker::ProveCanary(size_t index, const CancellationToken& cancel) {
  const Clock::time_point start = context_.clock.Now();
  std::optional<DeviceFault> fault;
  bool cancelled = false;
  // Let go of here: with the last snapshot of a circuit that was unloaded its key goes off the devices.
  if (const CircuitPtr circuit = NextCanary()) {
    const RunOutcome outcome = ProveCanaryOf(*circuit, index, cancel);
    fault = outcome.fault;
    cancelled = absl::IsCancelled(outcome.status);
  }
  if (fault.has_value()) canaries_->RepeatLast();
  // A canary that was cancelled stays due. One that blames the device is tried again at once, for either it
  // goes well or the device goes out of service.
  if (!cancelled && !fault.has_value()) {
    SetCanaryDue(canaries_->PauseAfter(context_.clock.Now() - start));
  }
  context_.dispatcher.queue().EndSpareTurn(index);
  if (fault.has_value()) TakeBlame(*fault);
}

RunOutcome Worker::ProveCanaryOf(const Circuit& circuit, size_t index, const CancellationToken& cancel) {
  const JobInfo info{.circuit = circuit.id,
                     .system = circuit.system,
                     .tenant = "",
                     .request_id = "",
                     .priority = Priority::kLow};
  SetStageStart(index, context_.clock.Now());
  CanaryStages stages([this, index] { SetStageStart(index, context_.clock.Now()); });
  RunOutcome outcome = Guarded([&] { return runner_->ProveCanary(circuit, {cancel, stages}); });
  SetStageStart(index, std::nullopt);
  ObserveFault(info, outcome);
  if (outcome.status.ok()) NoteProof();
  Report();
  return outcome;
}

CircuitPtr Worker::NextCanary() try {
  return canaries_->Next(options_.canary_circuits(), *runner_);
} catch (const std::bad_alloc&) {
  return nullptr;  // another time
}

void Worker::Learn(const Job& job, Clock::duration run_time) {
  try {
    context_.dispatcher.proof_times().Learn(job.circuit().id, device_.device, run_time);
  } catch (const std::bad_alloc&) {
    // The next proof tells as much.
  }
}

bool Worker::RunElsewhere(size_t index, const JobPtr& job) {
  if (job->WasRequeued()) return false;
  // Up before another worker can bring it down.
  context_.observer.OnQueueDepthChange(job->priority(), 1);
  if (context_.dispatcher.queue().Requeue(index, job)) return true;
  context_.observer.OnQueueDepthChange(job->priority(), -1);
  return false;
}

RunOutcome Worker::Guarded(absl::FunctionRef<RunOutcome()> run) {
  RunOutcome failed;
  try {
    return run();
  } catch (const std::bad_alloc&) {
    failed.status = OutOfMemory();
  } catch (const std::exception& e) {
    failed.status =
        WithReason(absl::InternalError(absl::StrCat("the prover threw: ", e.what())), ErrorReason::kInternal);
  }
  return failed;
}

void Worker::ObserveFault(const JobInfo& job, const RunOutcome& outcome) {
  Observer& observer = context_.observer;
  if (outcome.verdict.has_value()) observer.OnBlame(job, device_, *outcome.verdict);
  if (outcome.fault.has_value()) {
    observer.OnDeviceError(device_, outcome.fault->error_class, outcome.fault->status);
  } else if (GetReason(outcome.status) == ErrorReason::kOutOfMemory) {
    observer.OnDeviceError(device_, DeviceErrorClass::kOutOfMemory, outcome.status);
  }
}

void Worker::Report() {
  try {
    ReportDevice(*runner_, context_.observer);
  } catch (const std::bad_alloc&) {
    // Counts come again with the next job; the news of a key may be lost.
  }
}

void Worker::TakeBlame(const DeviceFault& fault) {
  std::string why;
  {
    MutexLock lock(mu_);
    const int faults = ++faults_in_a_row_;
    if (out_of_service_.has_value() || (!fault.lost && faults < options_.faults_max)) return;
    const std::string message(fault.status.message());
    why = fault.lost ? absl::StrCat("lost: ", message)
                     : absl::StrCat(faults, " faults in a row, the last: ", message);
    out_of_service_ = why;
  }
  // Refused before the others are told: whoever sees the device down finds that it takes nothing more.
  context_.dispatcher.RemoveWorker(options_.index);
  context_.observer.OnDeviceUp(device_, false, why);
  context_.health.SetDevice(std::string(device_.device), false, why);
}

absl::StatusOr<ProveResult> Worker::MakeResult(const Job& job, RunOutcome outcome, Times times) const try {
  if (!outcome.status.ok()) return std::move(outcome.status);
  return ProveResult{.output = std::move(outcome.output),
                     .circuit = job.circuit().id,
                     .version = job.circuit().version,
                     .stages = std::move(times.stages),
                     .device = std::string(device_.device),
                     .queue_wait = times.queue_wait,
                     .run_time = times.run,
                     .finish_time = absl::Now()};
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

}  // namespace proofmill::engine
