// The queue of jobs, shared by the front end (which pushes) and the workers (which pop). A worker is a thread
// that runs one job at a time; a device has one worker or several.
//
// A device has slots, as many as workers or fewer. A job takes up one, or several where fewer jobs of its
// kind are worth running at a time (job.h); while the next job finds too few of them free it waits, and those
// behind it do too. A device that has no job takes any.
//
// Its length is bounded by admission: a job comes with a reserved place (admission.h). So Push() only refuses
// when the queue is closed or no worker is left.
//
// Ordering: tenants share the devices by their weights (fair_order.h). Within a tenant, a job of the highest
// level counts as having come when it came; each level below counts as having come one `aging` later. So a
// job overtakes those of the next lower level that came less than `aging` before it, never those that waited
// longer, and within a level it is first in, first out. No level starves: a low job waits at most for what
// came less than 2 * aging after it. A job put back by Requeue() keeps its place.
//
// Thread safety: every method may be called from any thread. Locks: queue before job (MayRunOn).

#ifndef PROOFMILL_ENGINE_DISPATCH_JOB_QUEUE_H_
#define PROOFMILL_ENGINE_DISPATCH_JOB_QUEUE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/base/cancellation.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/fair_order.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/prove_types.h"

namespace proofmill::engine {

class JobQueue {
 public:
  struct Options {
    size_t workers;         // they have the indices 0 .. workers - 1
    Clock::duration aging;  // not negative
    // So many workers with indices in a row drive one device. What befalls a device befalls all of them.
    size_t workers_per_device = 1;
    // The last so many workers stand by: they get jobs only when no other worker is left.
    size_t standby_workers = 0;
    // The slots of each device, that is, how many jobs it works on at a time where each takes up one slot:
    // from 1 to `workers_per_device`. Empty: that many for each.
    std::vector<size_t> device_slots = {};
  };

  // REQUIRES: at least one worker, and a whole number of devices.
  JobQueue(const Options& options, Clock& clock);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // Never blocks. On an error the job stays with its owner.
  //   UNAVAILABLE DRAINING   Close() was called.
  //   UNAVAILABLE NO_DEVICE  every worker was removed.
  absl::Status Push(JobPtr job);

  // Blocks until there is a job that `worker` may run; the job counts as running there until Done(). Returns
  // null when the worker should end: it was removed, or the queue is closed and no job will come for it any
  // more.
  JobPtr Pop(size_t worker);
  // Says that a job is likely to be pushed within a fraction of a millisecond: an idle worker wakes up and
  // looks out for it for so long. Waking a thread on an idle core takes up to 0.2 ms on a virtual machine,
  // which a small proof should not wait for. Costs nothing else where no job comes.
  void Announce();

  // As Pop(), but null at once if there is none. For simulations.
  JobPtr TryPop(size_t worker);
  // The job that `worker` popped last has ended.
  void Done(size_t worker);

  // --- Spare time: what a device does for itself while nobody wants it.
  // What a worker is to do next: run a job, use a spare turn, or (neither) end.
  struct Turn {
    JobPtr job;
    bool spare = false;
  };
  // As Pop(), but gives a spare turn when its time has come, there is no job that `worker` may run, and no
  // other worker of the device has a job or a spare turn. A device that stands by has none. `cancel` is
  // raised as soon as a job comes that would have to wait for the turn or shares the device with it, and when
  // there are to be no spare turns any more; it must live until EndSpareTurn().
  Turn PopOrSpare(size_t worker, CancellationToken& cancel);
  void EndSpareTurn(size_t worker);
  // The next spare turn of the device of `worker` is not before `due`. To begin with there is none.
  void SetSpareDue(size_t worker, Clock::time_point due);
  // No spare turn from now on. Idempotent.
  void EndSpareTime();

  // Puts the running job of `worker` back, for another device. False, and the job stays with the worker, when
  // no other device is left or nobody waits for the job; Done() is then still to be called.
  bool Requeue(size_t worker, const JobPtr& job);

  // Takes `job` out. False if it is not in the queue (any more).
  bool Remove(const Job& job);

  // The device of `worker` takes nothing more. Returns the jobs that no worker is left for; they are out of
  // the queue.
  std::vector<JobPtr> RemoveWorker(size_t worker);

  // Refuses new jobs from now on; those in the queue are still handed out. Idempotent.
  void Close();
  // Takes every job out.
  std::vector<JobPtr> TakeAll();

  // --- How it looks now.
  std::array<size_t, kPriorityCount> depth() const;
  size_t size() const;
  // Jobs that are on a worker.
  std::vector<JobPtr> running() const;
  size_t workers_up() const;
  // Jobs that run, by device.
  std::vector<size_t> RunningByDevice() const;
  // How many jobs will be taken before `job`; nothing if it is not queued. Takes time about linear in the
  // answer.
  std::optional<size_t> JobsAhead(const Job& job) const;
  // Every queued job in order.
  std::vector<JobPtr> InOrder() const;
  // When a job of `tenant` and `priority` that came now would be taken. `unknown_run` stands for jobs whose
  // time is not known.
  Clock::duration EstimatedWait(Priority priority, Clock::duration unknown_run, std::string_view tenant = "",
                                double weight = 1) const;
  // How long the workers that are up need for all that is queued and running.
  Clock::duration Backlog(Clock::duration unknown_run) const;

  // Waits until nothing is queued or running, or until `deadline`; returns whether it is so.
  bool WaitUntilIdle(Clock::time_point deadline);

 private:
  struct WorkerState {
    bool up = true;
    // What it runs, since when, and the place that the job had, for Requeue().
    JobPtr job;
    Clock::time_point started;
    FairOrder::Place place;
  };

  struct DeviceState {
    CondVar ready;  // something changed for its workers
    Clock::time_point spare_due = Clock::time_point::max();
    CancellationToken* spare = nullptr;  // of the spare turn that is under way
    size_t asleep = 0;                   // workers, in Pop()
    size_t slots = 0;
    size_t free_slots = 0;

    // What a job of so many slots takes up here: a device takes any job when it has no other.
    size_t SlotsOf(const Job& job) const { return std::min(job.slots(), slots); }
    bool idle() const { return free_slots == slots; }
  };

  // `cancel`: null for no spare turn.
  Turn PopLocked(size_t worker, CancellationToken* cancel) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // From when on `worker` may have a spare turn if nothing changes.
  std::optional<Clock::time_point> SpareDueLocked(size_t worker) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t AsleepLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Jobs of so many slots that those who do nothing now would take, each on its device.
  size_t TakersLocked(size_t slots) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelSpareTurnsLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Until something is pushed, or for kLookout.
  void LookOutLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t DeviceOf(size_t worker) const { return worker / options_.workers_per_device; }
  JobPtr TryPopLocked(size_t worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A worker that is asleep and may take what has come; nobody if there is none.
  void WakeOneLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeAllLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsStandby(size_t worker) const { return worker >= options_.workers - options_.standby_workers; }
  bool AnyRegularWorkerLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What is left of the jobs that run, and the slots that they take up.
  FairOrder::Ahead RunningLocked(Clock::duration unknown_run) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AnyWorkerForLocked(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AnyRunningLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IdleLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NotifyIfIdleLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t WorkersUpLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of the devices that these workers drive.
  size_t SlotsUpLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether jobs may be for `worker` now: it is in service, and called on if it stands by.
  bool ServesLocked(size_t worker, bool regular) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return workers_[worker].up && IsStandby(worker) != regular;
  }

  const Options options_;
  Clock& clock_;

  mutable Mutex mu_;
  CondVar idle_;
  FairOrder jobs_ ABSL_GUARDED_BY(mu_);
  std::vector<WorkerState> workers_ ABSL_GUARDED_BY(mu_);
  std::vector<DeviceState> devices_ ABSL_GUARDED_BY(mu_);
  uint64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 0;
  size_t announced_ ABSL_GUARDED_BY(mu_) = 0;    // announcements that no worker has taken up
  size_t looking_out_ ABSL_GUARDED_BY(mu_) = 0;  // workers that will look into the queue soon
  std::atomic<uint64_t> pushes_{0};              // changed under mu_, looked at without it
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool spare_time_ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_JOB_QUEUE_H_
