#include "engine/dispatch/job_queue.h"

#include <algorithm>
#include <utility>

#include "engine/base/error_reason.h"

namespace proofmill::engine {

JobQueue::JobQueue(Options options, Clock& clock)
    : options_(options), clock_(clock), workers_(options.workers) {}

absl::Status JobQueue::Push(JobPtr job) {
  const auto levels_below = static_cast<int>(Priority::kHigh) - static_cast<int>(job->priority());
  MutexLock lock(mu_);
  if (closed_) {
    return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
  }
  if (WorkersUpLocked() == 0) {
    return WithReason(absl::UnavailableError("no device can prove now"), ErrorReason::kNoDevice);
  }
  const Place place(job->enqueue_time() + levels_below * options_.aging, next_sequence_++);
  InsertLocked(place, std::move(job));
  ready_.NotifyOne();
  return absl::OkStatus();
}

JobPtr JobQueue::Pop(size_t worker) {
  MutexLock lock(mu_);
  while (true) {
    if (!workers_[worker].up) return nullptr;
    if (JobPtr job = TryPopLocked(worker)) return job;
    // A job that runs elsewhere may still be put back for this worker.
    if (closed_ && !AnyRunningLocked()) return nullptr;
    ready_.Wait(mu_);
  }
}

JobPtr JobQueue::TryPop(size_t worker) {
  MutexLock lock(mu_);
  return workers_[worker].up ? TryPopLocked(worker) : nullptr;
}

JobPtr JobQueue::TryPopLocked(size_t worker) {
  // Nearly always the first; only jobs that were put back exclude a worker.
  for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
    if (!it->second->MayRunOn(DeviceOf(worker))) continue;
    WorkerState& state = workers_[worker];
    state.place = it->first;
    state.job = EraseLocked(it);
    state.started = clock_.Now();
    return state.job;
  }
  return nullptr;
}

void JobQueue::Done(size_t worker) {
  JobPtr ended;  // let go of after the lock
  MutexLock lock(mu_);
  ended = std::move(workers_[worker].job);
  workers_[worker].job = nullptr;
  if (closed_) ready_.NotifyAll();
  NotifyIfIdleLocked();
}

bool JobQueue::Requeue(size_t worker, const JobPtr& job) {
  MutexLock lock(mu_);
  if (!job->Requeue(DeviceOf(worker))) return false;
  if (!AnyWorkerForLocked(*job)) return false;
  InsertLocked(workers_[worker].place, job);
  workers_[worker].job = nullptr;
  ready_.NotifyAll();
  return true;
}

bool JobQueue::Remove(const Job& job) {
  JobPtr removed;  // let go of after the lock
  MutexLock lock(mu_);
  const auto place = places_.find(&job);
  if (place == places_.end()) return false;
  removed = EraseLocked(jobs_.find(place->second));
  NotifyIfIdleLocked();
  return true;
}

std::vector<JobPtr> JobQueue::RemoveWorker(size_t worker) {
  std::vector<JobPtr> stranded;
  MutexLock lock(mu_);
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (DeviceOf(i) == DeviceOf(worker)) workers_[i].up = false;
  }
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const auto next = std::next(it);
    if (!AnyWorkerForLocked(*it->second)) stranded.push_back(EraseLocked(it));
    it = next;
  }
  ready_.NotifyAll();
  NotifyIfIdleLocked();
  return stranded;
}

void JobQueue::Close() {
  MutexLock lock(mu_);
  closed_ = true;
  ready_.NotifyAll();
}

std::vector<JobPtr> JobQueue::TakeAll() {
  std::vector<JobPtr> taken;
  MutexLock lock(mu_);
  while (!jobs_.empty()) taken.push_back(EraseLocked(jobs_.begin()));
  NotifyIfIdleLocked();
  return taken;
}

std::array<size_t, kPriorityCount> JobQueue::depth() const {
  std::array<size_t, kPriorityCount> depth{};
  MutexLock lock(mu_);
  for (size_t i = 0; i < kPriorityCount; ++i) depth[i] = levels_[i].jobs;
  return depth;
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

size_t JobQueue::workers_up() const {
  MutexLock lock(mu_);
  return WorkersUpLocked();
}

std::optional<size_t> JobQueue::JobsAhead(const Job& job) const {
  MutexLock lock(mu_);
  const auto place = places_.find(&job);
  if (place == places_.end()) return std::nullopt;
  return static_cast<size_t>(std::distance(jobs_.begin(), jobs_.find(place->second)));
}

std::vector<JobPtr> JobQueue::InOrder() const {
  std::vector<JobPtr> jobs;
  MutexLock lock(mu_);
  jobs.reserve(jobs_.size());
  for (const auto& [place, job] : jobs_) jobs.push_back(job);
  return jobs;
}

Clock::duration JobQueue::EstimatedWait(Priority priority, Clock::duration unknown_run) const {
  const Clock::time_point now = clock_.Now();
  MutexLock lock(mu_);
  const size_t up = WorkersUpLocked();
  if (up == 0) return Clock::duration::max();
  Clock::duration work{0};
  size_t busy = 0;
  for (const WorkerState& worker : workers_) {
    if (worker.job == nullptr || !worker.up) continue;
    ++busy;
    const Clock::duration expected = worker.job->expected_run();
    const Clock::duration run = expected.count() == 0 ? unknown_run : expected;
    work += std::max(run - (now - worker.started), Clock::duration{0});
  }
  size_t ahead = 0;
  for (size_t i = static_cast<size_t>(priority); i < kPriorityCount; ++i) {
    const Level& level = levels_[i];
    ahead += level.jobs;
    work += level.expected + static_cast<int64_t>(level.unknown) * unknown_run;
  }
  if (busy + ahead < up) return Clock::duration{0};  // a worker is free
  return work / static_cast<int64_t>(up);
}

bool JobQueue::WaitUntilIdle(Clock::time_point deadline) {
  MutexLock lock(mu_);
  while (!IdleLocked() && clock_.Now() < deadline) clock_.WaitUntil(idle_, mu_, deadline);
  return IdleLocked();
}

void JobQueue::InsertLocked(Place place, JobPtr job) {
  const Job* const address = job.get();
  // Only these two can throw, and neither leaves anything behind when it does.
  places_.reserve(places_.size() + 1);
  jobs_.emplace(place, std::move(job));
  places_.emplace(address, place);
  Level& level = levels_[static_cast<size_t>(address->priority())];
  ++level.jobs;
  level.expected += address->expected_run();
  if (address->expected_run().count() == 0) ++level.unknown;
}

JobPtr JobQueue::EraseLocked(std::map<Place, JobPtr>::iterator position) {
  JobPtr job = std::move(position->second);
  jobs_.erase(position);
  places_.erase(job.get());
  Level& level = levels_[static_cast<size_t>(job->priority())];
  --level.jobs;
  level.expected -= job->expected_run();
  if (job->expected_run().count() == 0) --level.unknown;
  return job;
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

bool JobQueue::IdleLocked() const { return jobs_.empty() && !AnyRunningLocked(); }

void JobQueue::NotifyIfIdleLocked() {
  if (IdleLocked()) idle_.NotifyAll();
}

size_t JobQueue::WorkersUpLocked() const {
  return static_cast<size_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const WorkerState& worker) { return worker.up; }));
}

}  // namespace proofmill::engine
