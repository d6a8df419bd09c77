// What Engine::Submit() returns: one caller's hold on a job.
//
// Two requests with the same request id share one job, each with a ticket of its own: with its own deadline
// and its own callback. A job goes on as long as at least one ticket waits for it.
//
// Thread safety: every method may be called from any thread, at any time, also after the engine has gone.
// Ordering: whoever takes a ticket off its job answers it (the worker that ends the job, or the dispatcher
// when the ticket is cancelled or expires); taking off happens under the job's lock, so exactly one does.
// Lifetime: the engine keeps a ticket until it is answered; letting go of it does not cancel anything.

#ifndef PROOFMILL_ENGINE_DISPATCH_TICKET_H_
#define PROOFMILL_ENGINE_DISPATCH_TICKET_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/prove_types.h"

namespace proofmill::engine {

class Dispatcher;
class Job;

class Ticket : public std::enable_shared_from_this<Ticket> {
 public:
  struct Callbacks {
    ProveCallback done;
    ProgressCallback progress;  // may be empty
  };

  Ticket(std::weak_ptr<Dispatcher> dispatcher, Clock::time_point deadline, Callbacks callbacks);
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  // Gives the job up. Returns at once; a queued job has then left the queue, a running one stops at the end
  // of its stage, and the callback gets CANCELLED within 100 ms from another thread, unless the result was
  // already on its way. Idempotent.
  void Cancel();

  // Where the job is now.
  Progress progress() const;

  Clock::time_point deadline() const { return deadline_; }
  // Whether an earlier request with the same id made the job, or its result.
  bool joined() const;

 private:
  friend class AnswerBox;
  friend class Dispatcher;

  // Both deliver on the calling thread, or leave the call to the thread that is inside a callback of this
  // ticket already. Answer() is called once, by whoever took the ticket off its job.
  void Answer(absl::StatusOr<ProveResult> result);
  void Report(const Progress& progress);
  // The job while the ticket waits for it, else null.
  std::shared_ptr<Job> job() const;
  void Bind(std::shared_ptr<Job> job);
  void SetJoined();
  bool answered() const;

  void Deliver();

  const std::weak_ptr<Dispatcher> dispatcher_;
  const Clock::time_point deadline_;
  const bool wants_progress_;

  mutable Mutex mu_;
  std::shared_ptr<Job> job_ ABSL_GUARDED_BY(mu_);
  ProveCallback done_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const ProgressCallback> progress_ ABSL_GUARDED_BY(mu_);  // null if nobody wants any
  // What is still to be delivered, and whether a thread is at it.
  std::optional<Progress> pending_progress_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::StatusOr<ProveResult>> pending_result_ ABSL_GUARDED_BY(mu_);
  bool answered_ ABSL_GUARDED_BY(mu_) = false;
  bool joined_ ABSL_GUARDED_BY(mu_) = false;
  bool told_running_ ABSL_GUARDED_BY(mu_) = false;
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_TICKET_H_
