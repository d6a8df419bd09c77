// The time that queues, deadlines and estimates go by, behind an interface so that tests can turn it by hand.
//
// Waiting for a condition goes through the clock as well: a thread that waits for a deadline of a FakeClock
// must wake up when a test moves that clock.

#ifndef PROOFMILL_ENGINE_BASE_CLOCK_H_
#define PROOFMILL_ENGINE_BASE_CLOCK_H_

#include <chrono>

#include "engine/base/mutex.h"

namespace proofmill::engine {

// Thread safety: every method may be called from any thread.
class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;

  // Never goes backwards.
  virtual time_point Now() = 0;

  // Waits on `cv` until it is notified or until Now() >= `deadline`, which may be time_point::max(). Releases
  // `mu` meanwhile. May return early, so callers loop, as with CondVar::Wait().
  virtual void WaitUntil(CondVar& cv, Mutex& mu, time_point deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;

  // The steady clock of the system; lives for ever.
  static Clock& Real();
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_CLOCK_H_
