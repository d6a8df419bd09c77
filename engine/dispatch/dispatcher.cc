#include "engine/dispatch/dispatcher.h"

#include <new>
#include <utility>

#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"

namespace proofmill::engine {
namespace {

absl::Status Cancelled() {
  return WithReason(absl::CancelledError("cancelled by the client"), ErrorReason::kCancelled);
}

absl::Status Expired() {
  return WithReason(absl::DeadlineExceededError("the deadline passed before the proof was done"),
                    ErrorReason::kDeadlineExpired);
}

absl::Status Draining() {
  return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
}

absl::Status OutOfMemory() {
  return WithReason(absl::ResourceExhaustedError("there is no memory for another job or its result"),
                    ErrorReason::kOutOfMemory);
}

// What a client is told of a proof that was made: at worst that there was no memory to tell it of the proof.
absl::StatusOr<ProveResult> CopyOf(const absl::StatusOr<ProveResult>& result) try {
  return result;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

absl::Status NoDevice() {
  return WithReason(absl::UnavailableError("no device can prove now"), ErrorReason::kNoDevice);
}

}  // namespace

Dispatcher::Dispatcher(const Options& options, Observer& observer, Clock& clock)
    : observer_(observer),
      clock_(clock),
      queue_(options.queue, clock),
      request_ids_(options.request_ids, clock),
      answer_box_(options.places_interval, clock) {}

Dispatcher::~Dispatcher() = default;

void Dispatcher::Start() {
  thread_ = std::thread([this] {
    SetThreadName("pm-answers");
    AnswerBox::Work work;
    while (answer_box_.Wait(work)) Handle(work);
  });
}

void Dispatcher::Stop() {
  if (!thread_.joinable()) return;
  {
    // A Cancel() on another thread may have taken its ticket off and not posted the answer yet.
    MutexLock lock(mu_);
    stopping_ = true;
    while (unanswered_ != 0) all_answered_.Wait(mu_);
  }
  answer_box_.Stop();
  thread_.join();
}

bool Dispatcher::AnswerPosted() {
  AnswerBox::Work work;
  if (!answer_box_.Poll(work)) return false;
  Handle(work);
  return true;
}

// By value: `admit` may come back to the caller, which may then let go of its own pointer.
absl::StatusOr<std::shared_ptr<Ticket>> Dispatcher::Submit(
    std::shared_ptr<Job> job,  // NOLINT(performance-unnecessary-value-param)
    const std::optional<RequestContent>& content, Clock::time_point deadline, Ticket::Callbacks callbacks,
    const Admit& admit) {
  auto ticket = std::make_shared<Ticket>(weak_from_this(), deadline, std::move(callbacks));
  {
    MutexLock lock(mu_);
    // From Stop() on nobody would give the answer that a repeated request gets without a worker.
    if (stopping_) return Draining();
    ++unanswered_;
  }
  absl::Status status;
  try {
    // Attached before anybody else can see the job, so that it is never left without a ticket meanwhile.
    ticket->Bind(job);
    job->Attach(ticket);
    status = FindOrEnqueue(job, content, ticket, admit);
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  if (!status.ok()) {
    Refuse(*job, *ticket, status);
    return status;
  }
  try {
    answer_box_.Watch(ticket);
  } catch (const std::bad_alloc&) {
    // The job is taken, so its callback will be called and no error may be told. Without the timer its
    // deadline counts only until a worker takes it.
  }
  return ticket;
}

absl::Status Dispatcher::FindOrEnqueue(const std::shared_ptr<Job>& job,
                                       const std::optional<RequestContent>& content,
                                       const std::shared_ptr<Ticket>& ticket, const Admit& admit) {
  if (content.has_value()) {
    PROOFMILL_ASSIGN_OR_RETURN(const bool found, FindSame(job, *content, ticket));
    if (found) return absl::OkStatus();
  }
  PROOFMILL_RETURN_IF_ERROR(admit(*job));
  // The count goes up before a worker can bring it down.
  observer_.OnQueueDepthChange(job->priority(), 1);
  absl::Status status;
  try {
    status = queue_.Push(job);
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  if (!status.ok()) observer_.OnQueueDepthChange(job->priority(), -1);
  return status;
}

absl::StatusOr<bool> Dispatcher::FindSame(const std::shared_ptr<Job>& job, const RequestContent& content,
                                          const std::shared_ptr<Ticket>& ticket) {
  std::shared_ptr<Job> finished;
  while (true) {
    PROOFMILL_ASSIGN_OR_RETURN(auto known, request_ids_.FindOrInsert(job, content, finished.get()));
    if (!known.has_value()) return false;
    if (known->result.has_value()) {
      job->Finish();  // nobody else knows it
      ticket->Bind(nullptr);
      ticket->SetJoined();
      answer_box_.Post({ticket, *std::move(known->result), nullptr});
      return true;
    }
    ticket->Bind(known->job);
    if (known->job->Attach(ticket)) {
      ticket->SetJoined();
      job->Finish();
      return true;
    }
    // It ended just now: look again, either for its result or to take its place.
    ticket->Bind(job);
    finished = std::move(known->job);
  }
}

void Dispatcher::Refuse(Job& job, Ticket& ticket, const absl::Status& status) {
  request_ids_.Forget(job);
  for (std::shared_ptr<Ticket>& attached : job.Finish()) {
    if (attached.get() != &ticket) answer_box_.Post({std::move(attached), status, nullptr});
  }
  ticket.Bind(nullptr);
  MutexLock lock(mu_);
  if (--unanswered_ == 0) all_answered_.NotifyAll();
}

void Dispatcher::CancelTicket(const std::shared_ptr<Ticket>& ticket) {
  EndTicket(ticket, Cancelled(), DropReason::kCancelled);
}

void Dispatcher::EndTicket(const std::shared_ptr<Ticket>& ticket, absl::Status status, DropReason reason) {
  const std::shared_ptr<Job> job = ticket->job();
  if (job == nullptr) return;
  const Job::Detached detached = job->Detach(*ticket);
  if (detached == Job::Detached::kNot) return;
  PostedAnswer answer{ticket, std::move(status), nullptr};
  if (detached == Job::Detached::kLast) {
    request_ids_.Forget(*job);
    // The observer hears of it before the answer is posted: once all are answered, it may be gone.
    observer_.OnJobDropped(job->info(), reason);
    if (queue_.Remove(*job)) {
      observer_.OnQueueDepthChange(job->priority(), -1);
      answer_box_.PlacesChanged();
      answer.dropped_job = job;
    }  // else a worker has it, and its witness
  }
  answer_box_.Post(std::move(answer));
}

void Dispatcher::AbandonAll() {
  AbandonQueued(queue_.TakeAll(), Draining(), DropReason::kDraining);
  for (const JobPtr& job : queue_.running()) {
    observer_.OnJobDropped(job->info(), DropReason::kDraining);
    Abandon(*job, Draining());
  }
  // What a worker put back meanwhile.
  AbandonQueued(queue_.TakeAll(), Draining(), DropReason::kDraining);
}

void Dispatcher::RemoveWorker(size_t worker) {
  AbandonQueued(queue_.RemoveWorker(worker), NoDevice(), std::nullopt);
}

void Dispatcher::AbandonQueued(const std::vector<JobPtr>& jobs, const absl::Status& status,
                               std::optional<DropReason> reason) {
  for (const JobPtr& job : jobs) {
    observer_.OnQueueDepthChange(job->priority(), -1);
    if (reason.has_value()) observer_.OnJobDropped(job->info(), *reason);
    job->DropWitness();
    Abandon(*job, status);
  }
}

void Dispatcher::Abandon(Job& job, const absl::Status& status) {
  request_ids_.Forget(job);
  for (std::shared_ptr<Ticket>& ticket : job.Finish()) {
    answer_box_.Post({std::move(ticket), status, nullptr});
  }
}

void Dispatcher::ExpireTickets(const Job& job) {
  const Clock::time_point now = clock_.Now();
  for (const std::shared_ptr<Ticket>& ticket : job.tickets()) {
    if (ticket->deadline() <= now) EndTicket(ticket, Expired(), DropReason::kExpired);
  }
}

void Dispatcher::ReportProgress(const Job& job) try {
  const Progress progress = job.progress();
  for (const std::shared_ptr<Ticket>& ticket : job.tickets()) ticket->Report(progress);
} catch (const std::bad_alloc&) {
  // The next stage is news enough.
}

void Dispatcher::Complete(Job& job, const absl::StatusOr<ProveResult>& result) {
  job.DropWitness();
  // Before Finish(): whoever finds the job finished then finds its result.
  request_ids_.Complete(job, result);
  for (const std::shared_ptr<Ticket>& ticket : job.Finish()) Answer(*ticket, CopyOf(result));
}

void Dispatcher::Answer(Ticket& ticket, absl::StatusOr<ProveResult> result) {
  ticket.Answer(std::move(result));
  answer_box_.Unwatch(ticket);
  MutexLock lock(mu_);
  if (--unanswered_ == 0) all_answered_.NotifyAll();
}

void Dispatcher::Handle(AnswerBox::Work& work) {
  for (const std::shared_ptr<Ticket>& ticket : work.expired) {
    EndTicket(ticket, Expired(), DropReason::kExpired);
  }
  for (PostedAnswer& answer : work.answers) {
    if (answer.dropped_job != nullptr) answer.dropped_job->DropWitness();
    Answer(*answer.ticket, std::move(answer.result));
  }
  if (work.places_changed) ReportPlaces();
  work = AnswerBox::Work();
}

void Dispatcher::ReportPlaces() try {
  size_t jobs_ahead = 0;
  for (const JobPtr& job : queue_.InOrder()) {
    Progress progress = job->progress();
    progress.jobs_ahead = jobs_ahead++;
    if (progress.state != JobState::kQueued) continue;
    for (const std::shared_ptr<Ticket>& ticket : job->tickets()) ticket->Report(progress);
  }
} catch (const std::bad_alloc&) {
  // They come again with the next change.
}

}  // namespace proofmill::engine
