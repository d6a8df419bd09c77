// Brings jobs, tickets and workers together: the part of the engine that makes sure that every request that
// was taken is answered exactly once.
//
// A ticket is taken off its job by exactly one of: the worker that ends the job, Cancel(), its deadline,
// Abandon(). Whoever does answers it: workers directly, all others through the answering thread, which first
// drops the job if nobody waits for it any more. So no callback runs inside Submit() or Cancel(), and none
// with a lock held.
//
// Thread safety: every method may be called from any thread, but for Start(), Stop() and AnswerPosted().
// Locks: its own covers a counter only. See JobQueue, Job, AnswerBox, Ticket. Only queue before job, and box
// before ticket, are ever held together. Lifetime: tickets hold weak references, so a Cancel() that comes
// late finds nothing to do. The thread is joined by Stop(), so the destructor may run on any thread.

#ifndef PROOFMILL_ENGINE_DISPATCH_DISPATCHER_H_
#define PROOFMILL_ENGINE_DISPATCH_DISPATCHER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/answer_box.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/job_queue.h"
#include "engine/dispatch/observer.h"
#include "engine/dispatch/proof_times.h"
#include "engine/dispatch/prove_types.h"
#include "engine/dispatch/request_ids.h"
#include "engine/dispatch/ticket.h"

namespace proofmill::engine {

class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  struct Options {
    JobQueue::Options queue;
    RequestIds::Options request_ids;
    Clock::duration places_interval;
  };
  Dispatcher(const Options& options, Observer& observer, Clock& clock);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Starts the answering thread.
  void Start();
  // Refuses new jobs, answers what was posted, then joins the thread. REQUIRES: no worker is running, and
  // AbandonAll() was called. Idempotent.
  void Stop();
  // Does what the answering thread would do now, on the calling thread; false if there was nothing to do. For
  // simulations, instead of Start().
  bool AnswerPosted();

  // --- For the front end.
  // Makes room for a job or refuses it. Called with no lock held.
  using Admit = std::function<absl::Status(Job&)>;
  // Takes a new job, with one ticket, into the queue if `admit` agrees; or refuses it, and then no callback
  // is called. When `content` is set and the job's request id stands for the same content already, the ticket
  // is for that job or its result; `admit` is not asked then, and `job` is dropped.
  //   ALREADY_EXISTS REQUEST_ID_CONFLICT; UNAVAILABLE DRAINING or NO_DEVICE; RESOURCE_EXHAUSTED
  //   OUT_OF_MEMORY; what `admit` returns
  absl::StatusOr<std::shared_ptr<Ticket>> Submit(std::shared_ptr<Job> job,
                                                 const std::optional<RequestContent>& content,
                                                 Clock::time_point deadline, Ticket::Callbacks callbacks,
                                                 const Admit& admit);
  void CancelTicket(const std::shared_ptr<Ticket>& ticket);
  // Ends every job that is queued or running now; its tickets get UNAVAILABLE, reason DRAINING.
  void AbandonAll();

  // --- For the workers.
  // Ends the tickets of a job whose deadline has passed, so that it is not begun for nobody.
  void ExpireTickets(const Job& job);
  // Tells the waiting clients that the job has begun, or has finished a stage.
  void ReportProgress(const Job& job);
  // Ends a job that is out of the queue: drops its witness, then answers its tickets on this thread.
  void Complete(Job& job, const absl::StatusOr<ProveResult>& result);
  // Takes a worker that failed out of service; jobs that nobody is left for are answered.
  void RemoveWorker(size_t worker);

  JobQueue& queue() { return queue_; }
  const JobQueue& queue() const { return queue_; }
  ProofTimes& proof_times() { return proof_times_; }
  RequestIds& request_ids() { return request_ids_; }
  // A worker took a job, so those behind it moved up.
  void PlacesChanged() { answer_box_.PlacesChanged(); }

 private:
  absl::Status FindOrEnqueue(const std::shared_ptr<Job>& job, const std::optional<RequestContent>& content,
                             const std::shared_ptr<Ticket>& ticket, const Admit& admit);
  // Makes the request id of `job` stand for it, or finds what it stands for: true if `ticket` got that
  // instead.
  absl::StatusOr<bool> FindSame(const std::shared_ptr<Job>& job, const RequestContent& content,
                                const std::shared_ptr<Ticket>& ticket);
  // Ends a job that never came into the queue. `ticket` is not answered, those that were attached meanwhile
  // are.
  void Refuse(Job& job, Ticket& ticket, const absl::Status& status);
  // Takes `ticket` off its job and posts `status` for it; nothing if somebody else did before.
  void EndTicket(const std::shared_ptr<Ticket>& ticket, absl::Status status, DropReason reason);
  // Ends jobs that were taken out of the queue, and a job that is out of it or runs, with `status` for their
  // tickets.
  void AbandonQueued(const std::vector<JobPtr>& jobs, const absl::Status& status,
                     std::optional<DropReason> reason);
  void Abandon(Job& job, const absl::Status& status);
  void Answer(Ticket& ticket, absl::StatusOr<ProveResult> result);
  void Handle(AnswerBox::Work& work);
  void ReportPlaces();

  Observer& observer_;
  Clock& clock_;
  JobQueue queue_;
  ProofTimes proof_times_;
  RequestIds request_ids_;
  AnswerBox answer_box_;
  Mutex mu_;
  CondVar all_answered_;
  size_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;  // tickets
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_DISPATCHER_H_
