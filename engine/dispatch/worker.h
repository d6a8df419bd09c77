// One device at work: threads that take jobs from the queue, run them on the device's runner and answer them.
//
// There are as many threads as the runner works on jobs at a time, so that while one job is on the host (the
// checks before a proof and after it) the device computes for another.
//
// A job fails alone: an exception (memory that cannot be had) becomes its error, and the next job runs. A
// device that is to blame for a failure runs the job once more elsewhere, if there is another one; after
// several faults in a row, or when it is lost, it is taken out of service for the rest of the process's life.
// So is one that hangs: a thread of the worker's own looks whether the stages of its jobs end. Nobody is
// answered for that, since Options::stage_max is longer than anybody waits; the thread that hangs stays.
//
// A device that nobody wants a proof of for a while proves a canary, so that one that went bad is found
// before a client finds it. A job that comes meanwhile has the canary cancelled, which ends with its stage. A
// canary that blames the device is proved again at once, until it is good or the device out of service.
//
// Thread safety: Start() and Join() by the owner; the rest from any thread (job_runner.h says which calls of
// the runner).

#ifndef PROOFMILL_ENGINE_DISPATCH_WORKER_H_
#define PROOFMILL_ENGINE_DISPATCH_WORKER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/base/cancellation.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/canary_rounds.h"
#include "engine/dispatch/dispatcher.h"
#include "engine/dispatch/health.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/observer.h"

namespace proofmill::engine {

class Worker {
 public:
  struct Options {
    size_t index;    // of the device's first worker in the queue
    int faults_max;  // in a row
    std::string thread_name;
    size_t threads = 1;  // they have the indices index .. index + threads - 1
    // A device hangs when no stage of one of its jobs ends for so long. REQUIRES: longer than any deadline.
    std::optional<Clock::duration> stage_max = std::nullopt;
    // A device that has made no good proof for so long proves a canary as soon as it is idle; unset: never.
    std::optional<Clock::duration> canary_interval = std::nullopt;
    // The circuits that have canaries, in the order of their ids; called by the worker's threads.
    std::function<std::vector<CircuitPtr>()> canary_circuits = nullptr;
  };
  // What it works with; all of it must outlive the worker.
  struct Context {
    Dispatcher& dispatcher;
    Health& health;
    Observer& observer;
    Clock& clock;
  };

  Worker(Options options, std::unique_ptr<JobRunner> runner, Context context);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // REQUIRES: Join() was called if Start() was.
  ~Worker();

  // Says that the device is up, and starts the threads.
  void Start();
  // Waits for the threads that prove, which end when the queue is closed and empty or the device is out of
  // service.
  void Join();
  // Takes one job and runs it on the calling thread; false if there is none. For simulations, instead of
  // Start().
  bool RunOne();

  JobRunner& runner() { return *runner_; }
  // Why the device takes no jobs any more; nothing while it does. From any thread.
  std::optional<std::string> out_of_service() const;

  // The device has made a proof that verifies, in a job or otherwise.
  void NoteProof();
  // When that was last, if ever.
  std::optional<absl::Time> last_proof() const;

 private:
  // What a thread does.
  void Work(size_t index);
  // `index` is that of the thread in the queue.
  void RunJob(size_t index, const JobPtr& job);
  // Proves the next canary, if there is one. REQUIRES: the thread `index` has the spare turn.
  void ProveCanary(size_t index, const CancellationToken& cancel);
  RunOutcome ProveCanaryOf(const Circuit& circuit, size_t index, const CancellationToken& cancel);
  CircuitPtr NextCanary();
  void SetCanaryDue(Clock::duration pause);
  static RunOutcome Guarded(absl::FunctionRef<RunOutcome()> run);
  // Tells who is to blame for a proof that was not made.
  void ObserveFault(const JobInfo& job, const RunOutcome& outcome);
  void Report();
  void Learn(const Job& job, Clock::duration run_time);
  // Puts a job that failed here back for another device, once.
  bool RunElsewhere(size_t index, const JobPtr& job);
  // What the thread that looks for a hang does.
  void Watch();
  bool HangsLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A job of the thread `index` has begun, has ended a stage, or (nothing) has ended.
  void SetStageStart(size_t index, std::optional<Clock::time_point> start);
  // Counts the fault, and takes the device out of service if it was the last straw.
  void TakeBlame(const DeviceFault& fault);
  struct Times {
    std::vector<StageTime> stages;
    std::chrono::nanoseconds queue_wait;
    std::chrono::nanoseconds run;
  };
  absl::StatusOr<ProveResult> MakeResult(const Job& job, RunOutcome outcome, Times times) const;

  const Options options_;
  const std::unique_ptr<JobRunner> runner_;
  const Context context_;
  const DeviceInfo device_;
  mutable Mutex mu_;
  int faults_in_a_row_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<std::string> out_of_service_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Time> last_proof_ ABSL_GUARDED_BY(mu_);
  // Since when each thread is in one stage of a job.
  std::vector<std::optional<Clock::time_point>> stage_starts_ ABSL_GUARDED_BY(mu_);
  bool joined_ ABSL_GUARDED_BY(mu_) = false;
  CondVar joined_changed_;
  std::optional<CanaryRounds> canaries_;  // of the thread that has the spare turn
  std::vector<std::thread> threads_;
  std::thread watch_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_WORKER_H_
