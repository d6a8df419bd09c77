// What the dispatcher's answering thread has to do: tickets whose deadline has come, answers that were posted
// because no callback may run where they arose (inside Submit() or Cancel()), and news of places in the
// queue.
//
// Thread safety: every method may be called from any thread; Wait() and Poll() by one thread at a time.

#ifndef PROOFMILL_ENGINE_DISPATCH_ANSWER_BOX_H_
#define PROOFMILL_ENGINE_DISPATCH_ANSWER_BOX_H_

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/prove_types.h"
#include "engine/dispatch/ticket.h"

namespace proofmill::engine {

// An answer to give. A job that came to its end with it is dropped first, and its witness with it.
struct PostedAnswer {
  std::shared_ptr<Ticket> ticket;
  absl::StatusOr<ProveResult> result;
  std::shared_ptr<Job> dropped_job;  // may be null
};

class AnswerBox {
 public:
  struct Work {
    std::vector<std::shared_ptr<Ticket>> expired;
    std::vector<PostedAnswer> answers;
    bool places_changed = false;
  };

  // News of places come at most once in each `places_interval`.
  AnswerBox(Clock::duration places_interval, Clock& clock);
  AnswerBox(const AnswerBox&) = delete;
  AnswerBox& operator=(const AnswerBox&) = delete;

  // Watches the deadline of `ticket` until it expires or Unwatch() is called.
  void Watch(std::shared_ptr<Ticket> ticket);
  void Unwatch(const Ticket& ticket);
  void Post(PostedAnswer answer);
  void PlacesChanged();

  // Blocks until there is something to do and takes it. False after Stop(), once nothing is left that was
  // posted.
  bool Wait(Work& work);
  // Takes what there is to do now; false if there is nothing.
  bool Poll(Work& work);
  void Stop();

 private:
  using Timer = std::pair<Clock::time_point, const Ticket*>;

  bool TakeLocked(Work& work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Clock::time_point NextWakeLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock::duration places_interval_;
  Clock& clock_;

  Mutex mu_;
  CondVar changed_;
  std::map<Timer, std::shared_ptr<Ticket>> timers_ ABSL_GUARDED_BY(mu_);
  std::vector<PostedAnswer> answers_ ABSL_GUARDED_BY(mu_);
  // When to tell of places; nothing if they are as told.
  std::optional<Clock::time_point> places_due_ ABSL_GUARDED_BY(mu_);
  Clock::time_point places_told_ ABSL_GUARDED_BY(mu_);
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_ANSWER_BOX_H_
