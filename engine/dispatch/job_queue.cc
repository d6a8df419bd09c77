#include "engine/dispatch/job_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/error_reason.h"

namespace proofmill::engine {
namespace {

// From the arrival of a small request to its place in the queue it is less than this.
constexpr std::chrono::microseconds kLookout{500};

// Leaves the core to its sibling for a moment.
void Relax() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

}  // namespace

JobQueue::JobQueue(const Options& options, Clock& clock)
    : options_(options),
      clock_(clock),
      workers_(options.workers),
      devices_(options.workers / options.workers_per_device) {
  for (size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].slots =
        options_.device_slots.empty() ? options_.workers_per_device : options_.device_slots[i];
    devices_[i].free_slots = devices_[i].slots;
  }
}

absl::Status JobQueue::Push(JobPtr job) {
  const auto levels_below = static_cast<int>(Priority::kHigh) - static_cast<int>(job->priority());
  MutexLock lock(mu_);
  if (closed_) {
    return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
  }
  if (WorkersUpLocked() == 0) {
    return WithReason(absl::UnavailableError("no device can prove now"), ErrorReason::kNoDevice);
  }
  const FairOrder::Place place(job->enqueue_time() + levels_below * options_.aging, next_sequence_++);
  const size_t slots = job->slots();
  jobs_.Insert(place, std::move(job));
  pushes_.fetch_add(1, std::memory_order_relaxed);  // what was pushed is read under the lock
  if (jobs_.size() > TakersLocked(slots)) CancelSpareTurnsLocked();
  if (options_.standby_workers != 0 || jobs_.size() > looking_out_) WakeOneLocked();
  return absl::OkStatus();
}

JobPtr JobQueue::Pop(size_t worker) {
  MutexLock lock(mu_);
  return PopLocked(worker, nullptr).job;
}

JobQueue::Turn JobQueue::PopOrSpare(size_t worker, CancellationToken& cancel) {
  MutexLock lock(mu_);
  return PopLocked(worker, &cancel);
}

JobQueue::Turn JobQueue::PopLocked(size_t worker, CancellationToken* cancel) {
  while (true) {
    if (!workers_[worker].up) {
      WakeOneLocked();  // should this one have been looking out, somebody else must take what came
      return {};
    }
    if (JobPtr job = TryPopLocked(worker)) return {.job = std::move(job)};
    // A job that runs elsewhere may still be put back for this worker.
    if (closed_ && !AnyRunningLocked()) return {};
    if (announced_ > 0) {
      --announced_;
      LookOutLocked();
      continue;
    }
    const auto spare_due = cancel != nullptr ? SpareDueLocked(worker) : std::nullopt;
    if (spare_due.has_value() && *spare_due <= clock_.Now()) {
      devices_[DeviceOf(worker)].spare = cancel;
      return {.job = nullptr, .spare = true};
    }
    DeviceState& device = devices_[DeviceOf(worker)];
    ++device.asleep;
    if (spare_due.has_value()) {
      clock_.WaitUntil(device.ready, mu_, *spare_due);
    } else {
      device.ready.Wait(mu_);
    }
    --device.asleep;
  }
}

std::optional<Clock::time_point> JobQueue::SpareDueLocked(size_t worker) const {
  const size_t device = DeviceOf(worker);
  if (spare_time_ended_ || closed_ || devices_[device].spare != nullptr) return std::nullopt;
  if (IsStandby(worker) && AnyRegularWorkerLocked()) return std::nullopt;
  for (size_t i = 0; i < workers_.size(); ++i) {
    // When that job ends its worker comes for a turn itself.
    if (DeviceOf(i) == device && workers_[i].job != nullptr) return std::nullopt;
  }
  if (devices_[device].spare_due == Clock::time_point::max()) return std::nullopt;
  return devices_[device].spare_due;
}

size_t JobQueue::TakersLocked(size_t slots) const {
  if (options_.standby_workers != 0) return 0;  // who stands by is asleep too, but takes none
  size_t takers = looking_out_;
  for (const DeviceState& device : devices_) {
    takers += std::min(device.asleep, device.free_slots / std::min(slots, device.slots));
  }
  return takers;
}

size_t JobQueue::AsleepLocked() const {
  size_t asleep = 0;
  for (const DeviceState& device : devices_) asleep += device.asleep;
  return asleep;
}

void JobQueue::CancelSpareTurnsLocked() {
  for (const DeviceState& device : devices_) {
    if (device.spare != nullptr) device.spare->Cancel();
  }
}

void JobQueue::EndSpareTurn(size_t worker) {
  MutexLock lock(mu_);
  devices_[DeviceOf(worker)].spare = nullptr;
}

void JobQueue::SetSpareDue(size_t worker, Clock::time_point due) {
  MutexLock lock(mu_);
  devices_[DeviceOf(worker)].spare_due = due;
}

void JobQueue::EndSpareTime() {
  MutexLock lock(mu_);
  spare_time_ended_ = true;
  CancelSpareTurnsLocked();
}

void JobQueue::Announce() {
  MutexLock lock(mu_);
  if (jobs_.size() > 0 || announced_ >= AsleepLocked() || options_.standby_workers != 0) return;
  ++announced_;
  WakeOneLocked();
}

void JobQueue::LookOutLocked() {
  const uint64_t seen = pushes_.load(std::memory_order_relaxed);
  const auto end = std::chrono::steady_clock::now() + kLookout;
  ++looking_out_;
  mu_.Unlock();
  while (pushes_.load(std::memory_order_relaxed) == seen && std::chrono::steady_clock::now() < end) {
    Relax();
  }
  mu_.Lock();
  --looking_out_;
}

JobPtr JobQueue::TryPop(size_t worker) {
  MutexLock lock(mu_);
  return workers_[worker].up ? TryPopLocked(worker) : nullptr;
}

JobPtr JobQueue::TryPopLocked(size_t worker) {
  if (IsStandby(worker) && AnyRegularWorkerLocked()) return nullptr;
  WorkerState& state = workers_[worker];
  DeviceState& device = devices_[DeviceOf(worker)];
  const size_t slots_max = device.idle() ? std::numeric_limits<size_t>::max() : device.free_slots;
  JobPtr job = jobs_.Take(DeviceOf(worker), slots_max, state.place);
  if (job == nullptr) return nullptr;
  device.free_slots -= device.SlotsOf(*job);
  state.job = job;
  state.started = clock_.Now();
  if (device.spare != nullptr) device.spare->Cancel();
  // Workers may be asleep although jobs wait, since there were too few slots for the next one.
  if (jobs_.size() > looking_out_ && device.free_slots > 0) WakeOneLocked();
  return job;
}

// A worker of a device whose slots are all taken would find nothing that it may take. Of those that stand by
// each may take nothing too: then all are woken.
void JobQueue::WakeOneLocked() {
  if (options_.standby_workers != 0) {
    WakeAllLocked();
    return;
  }
  DeviceState* best = nullptr;
  for (DeviceState& device : devices_) {
    if (device.asleep == 0 || device.free_slots == 0) continue;
    if (best == nullptr || device.free_slots > best->free_slots) best = &device;
  }
  if (best != nullptr) best->ready.NotifyOne();
}

void JobQueue::WakeAllLocked() {
  for (DeviceState& device : devices_) device.ready.NotifyAll();
}

void JobQueue::Done(size_t worker) {
  JobPtr ended;  // let go of after the lock
  MutexLock lock(mu_);
  ended = std::move(workers_[worker].job);
  workers_[worker].job = nullptr;
  if (ended != nullptr) {
    DeviceState& device = devices_[DeviceOf(worker)];
    device.free_slots += device.SlotsOf(*ended);
    jobs_.Settle(*ended, clock_.Now() - workers_[worker].started);
  }
  if (closed_) WakeAllLocked();
  NotifyIfIdleLocked();
}

bool JobQueue::Requeue(size_t worker, const JobPtr& job) {
  MutexLock lock(mu_);
  if (!job->Requeue(DeviceOf(worker))) return false;
  if (!AnyWorkerForLocked(*job)) return false;
  jobs_.PutBack(workers_[worker].place, job);
  DeviceState& device = devices_[DeviceOf(worker)];
  device.free_slots += device.SlotsOf(*job);
  workers_[worker].job = nullptr;
  CancelSpareTurnsLocked();
  WakeAllLocked();
  return true;
}

bool JobQueue::Remove(const Job& job) {
  JobPtr removed;  // let go of after the lock
  MutexLock lock(mu_);
  removed = jobs_.Remove(job);
  if (removed == nullptr) return false;
  NotifyIfIdleLocked();
  return true;
}

std::vector<JobPtr> JobQueue::RemoveWorker(size_t worker) {
  std::vector<JobPtr> stranded;
  MutexLock lock(mu_);
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (DeviceOf(i) == DeviceOf(worker)) workers_[i].up = false;
  }
  jobs_.Visit([&](const JobPtr& job) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!AnyWorkerForLocked(*job)) stranded.push_back(job);
    return true;
  });
  for (const JobPtr& job : stranded) jobs_.Remove(*job);
  WakeAllLocked();
  NotifyIfIdleLocked();
  return stranded;
}

void JobQueue::Close() {
  MutexLock lock(mu_);
  closed_ = true;
  CancelSpareTurnsLocked();
  WakeAllLocked();
}

std::vector<JobPtr> JobQueue::TakeAll() {
  std::vector<JobPtr> taken;
  MutexLock lock(mu_);
  jobs_.Visit([&](const JobPtr& job) {
    taken.push_back(job);
    return true;
  });
  for (const JobPtr& job : taken) jobs_.Remove(*job);
  NotifyIfIdleLocked();
  return taken;
}

std::array<size_t, kPriorityCount> JobQueue::depth() const {
  MutexLock lock(mu_);
  return jobs_.depth();
}

size_t JobQueue::size() const {
  MutexLock lock(mu_);
  return jobs_.size();
}

std::vector<JobPtr> JobQueue::running() const {
  std::vector<JobPtr> running;
  MutexLock lock(mu_);
  for (const WorkerState& worker : workers_) {
    if (worker.job != nullptr) running.push_back(worker.job);
  }
  return running;
}

std::vector<size_t> JobQueue::RunningByDevice() const {
  std::vector<size_t> running(options_.workers / options_.workers_per_device);
  MutexLock lock(mu_);
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].job != nullptr) ++running[DeviceOf(i)];
  }
  return running;
}

size_t JobQueue::workers_up() const {
  MutexLock lock(mu_);
  return WorkersUpLocked();
}

std::optional<size_t> JobQueue::JobsAhead(const Job& job) const {
  MutexLock lock(mu_);
  if (!jobs_.contains(job)) return std::nullopt;
  size_t ahead = 0;
  jobs_.Visit([&](const JobPtr& queued) {
    if (queued.get() == &job) return false;
    ++ahead;
    return true;
  });
  return ahead;
}

std::vector<JobPtr> JobQueue::InOrder() const {
  std::vector<JobPtr> jobs;
  MutexLock lock(mu_);
  jobs.reserve(jobs_.size());
  jobs_.Visit([&](const JobPtr& job) {
    jobs.push_back(job);
    return true;
  });
  return jobs;
}

FairOrder::Ahead JobQueue::RunningLocked(Clock::duration unknown_run) const {
  const Clock::time_point now = clock_.Now();
  FairOrder::Ahead running;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const WorkerState& worker = workers_[i];
    if (worker.job == nullptr || !worker.up) continue;
    const size_t slots = devices_[DeviceOf(i)].SlotsOf(*worker.job);
    running.slots += slots;
    const Clock::duration expected = worker.job->expected_run();
    const Clock::duration run = expected.count() == 0 ? unknown_run : expected;
    running.work += static_cast<int64_t>(slots) * std::max(run - (now - worker.started), Clock::duration{0});
  }
  return running;
}

Clock::duration JobQueue::EstimatedWait(Priority priority, Clock::duration unknown_run,
                                        std::string_view tenant, double weight) const {
  MutexLock lock(mu_);
  const size_t up = SlotsUpLocked();
  if (up == 0) return Clock::duration::max();
  const FairOrder::Ahead running = RunningLocked(unknown_run);
  const FairOrder::Ahead queued = jobs_.AheadOf(tenant, weight, priority, unknown_run);
  if (running.slots + queued.slots < up) return Clock::duration{0};  // a slot is free
  return (running.work + queued.work) / static_cast<int64_t>(up);
}

Clock::duration JobQueue::Backlog(Clock::duration unknown_run) const {
  MutexLock lock(mu_);
  const auto up = static_cast<int64_t>(std::max<size_t>(SlotsUpLocked(), 1));
  return (RunningLocked(unknown_run).work + jobs_.Work(unknown_run)) / up;
}

bool JobQueue::WaitUntilIdle(Clock::time_point deadline) {
  MutexLock lock(mu_);
  while (!IdleLocked() && clock_.Now() < deadline) clock_.WaitUntil(idle_, mu_, deadline);
  return IdleLocked();
}

bool JobQueue::AnyWorkerForLocked(const Job& job) const {
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].up && job.MayRunOn(DeviceOf(i))) return true;
  }
  return false;
}

bool JobQueue::AnyRunningLocked() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const WorkerState& worker) { return worker.job != nullptr; });
}

bool JobQueue::IdleLocked() const { return jobs_.size() == 0 && !AnyRunningLocked(); }

void JobQueue::NotifyIfIdleLocked() {
  if (IdleLocked()) idle_.NotifyAll();
}

bool JobQueue::AnyRegularWorkerLocked() const {
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].up && !IsStandby(i)) return true;
  }
  return false;
}

size_t JobQueue::WorkersUpLocked() const {
  const bool regular = AnyRegularWorkerLocked();
  size_t up = 0;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (ServesLocked(i, regular)) ++up;
  }
  return up;
}

size_t JobQueue::SlotsUpLocked() const {
  const bool regular = AnyRegularWorkerLocked();
  size_t up = 0;
  // All workers of a device are in service or none.
  for (size_t i = 0; i < workers_.size(); i += options_.workers_per_device) {
    if (ServesLocked(i, regular)) up += devices_[DeviceOf(i)].slots;
  }
  return up;
}

}  // namespace proofmill::engine
