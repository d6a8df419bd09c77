#include "engine/dispatch/ticket.h"

#include <new>
#include <utility>

#include "engine/dispatch/dispatcher.h"
#include "engine/dispatch/job.h"

namespace proofmill::engine {
namespace {

void Tell(const ProgressCallback& callback, const Progress& progress) {
  try {
    callback(progress);
  } catch (const std::bad_alloc&) {
    // News of progress may be lost, the answer may not.
  }
}

}  // namespace

Ticket::Ticket(std::weak_ptr<Dispatcher> dispatcher, Clock::time_point deadline, Callbacks callbacks)
    : dispatcher_(std::move(dispatcher)),
      deadline_(deadline),
      wants_progress_(callbacks.progress != nullptr),
      done_(std::move(callbacks.done)),
      progress_(wants_progress_ ? std::make_shared<const ProgressCallback>(std::move(callbacks.progress))
                                : nullptr) {}

void Ticket::Cancel() {
  const std::shared_ptr<Dispatcher> dispatcher = dispatcher_.lock();
  if (dispatcher != nullptr) dispatcher->CancelTicket(shared_from_this());
}

Progress Ticket::progress() const {
  const std::shared_ptr<Job> job = this->job();
  if (job == nullptr) return {.state = JobState::kDone, .jobs_ahead = 0, .stage = {}};
  Progress progress = job->progress();
  const std::shared_ptr<Dispatcher> dispatcher = dispatcher_.lock();
  if (progress.state == JobState::kQueued && dispatcher != nullptr) {
    progress.jobs_ahead = dispatcher->queue().JobsAhead(*job).value_or(0);
  }
  return progress;
}

std::shared_ptr<Job> Ticket::job() const {
  MutexLock lock(mu_);
  return job_;
}

void Ticket::Bind(std::shared_ptr<Job> job) {
  MutexLock lock(mu_);
  job_.swap(job);
}

bool Ticket::joined() const {
  MutexLock lock(mu_);
  return joined_;
}

void Ticket::SetJoined() {
  MutexLock lock(mu_);
  joined_ = true;
}

bool Ticket::answered() const {
  MutexLock lock(mu_);
  return answered_;
}

void Ticket::Answer(absl::StatusOr<ProveResult> result) {
  {
    MutexLock lock(mu_);
    answered_ = true;
    pending_result_ = std::move(result);
    pending_progress_.reset();
  }
  Deliver();
}

void Ticket::Report(const Progress& progress) {
  if (!wants_progress_) return;
  {
    MutexLock lock(mu_);
    if (answered_) return;
    // News of places may come late, when the job has begun.
    if (progress.state == JobState::kQueued && told_running_) return;
    told_running_ = told_running_ || progress.state == JobState::kRunning;
    pending_progress_ = progress;  // one that nobody has heard yet is out of date
  }
  Deliver();
}

void Ticket::Deliver() {
  {
    MutexLock lock(mu_);
    if (delivering_) return;  // that thread goes on with what was just added
    delivering_ = true;
  }
  while (true) {
    std::optional<Progress> progress;
    std::optional<absl::StatusOr<ProveResult>> result;
    ProveCallback done;
    std::shared_ptr<const ProgressCallback> tell;
    std::shared_ptr<Job> job;
    {
      MutexLock lock(mu_);
      progress = std::exchange(pending_progress_, std::nullopt);
      result = std::exchange(pending_result_, std::nullopt);
      if (!progress.has_value() && !result.has_value()) {
        delivering_ = false;
        return;
      }
      if (result.has_value()) {
        done = std::exchange(done_, nullptr);
        tell = std::move(progress_);
        job = std::move(job_);  // breaks the circle of job and ticket
      } else {
        tell = progress_;
      }
    }
    if (result.has_value()) {
      done(*std::move(result));
    } else {
      Tell(*tell, *progress);
    }
  }
}

}  // namespace proofmill::engine
