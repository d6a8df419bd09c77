// One device at work: a thread that takes jobs from the queue, runs them on its runner and answers them.
//
// A job fails alone: an exception (memory that cannot be had) becomes its error, and the next job runs. A
// device that is to blame for a failure runs the job once more elsewhere, if there is another one; after
// several faults in a row, or when it is lost, it is taken out of service for the rest of the process's life.
//
// Thread safety: Start() and Join() by the owner; runner() from any thread (job_runner.h says which calls).

#ifndef PROOFMILL_ENGINE_DISPATCH_WORKER_H_
#define PROOFMILL_ENGINE_DISPATCH_WORKER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "engine/base/clock.h"
#include "engine/dispatch/dispatcher.h"
#include "engine/dispatch/health.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/observer.h"

namespace proofmill::engine {

class Worker {
 public:
  struct Options {
    size_t index;    // in the queue
    int faults_max;  // in a row
    std::string thread_name;
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

  // Says that the device is up, and starts the thread.
  void Start();
  // Waits for the thread, which ends when the queue is closed and empty or the device is out of service.
  void Join();
  // Takes one job and runs it on the calling thread; false if there is none. For simulations, instead of
  // Start().
  bool RunOne();

  JobRunner& runner() { return *runner_; }

 private:
  void RunJob(const JobPtr& job);
  RunOutcome RunGuarded(const Job& job, StageSink& stages);
  void Observe(const Job& job, const RunOutcome& outcome, Clock::duration run_time);
  // Puts a job that failed here back for another worker, once.
  bool RunElsewhere(const JobPtr& job);
  // Counts the fault, and takes the device out of service if it was the last straw.
  void TakeBlame(const DeviceFault& fault);
  absl::StatusOr<ProveResult> MakeResult(const Job& job, RunOutcome outcome, std::vector<StageTime> stages,
                                         std::chrono::nanoseconds queue_wait) const;

  const Options options_;
  const std::unique_ptr<JobRunner> runner_;
  const Context context_;
  const DeviceInfo device_;
  int faults_in_a_row_ = 0;  // the thread's own
  std::thread thread_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_WORKER_H_
