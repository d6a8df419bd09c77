// A clock that a test turns by hand.

#ifndef PROOFMILL_TESTS_ENGINE_BASE_FAKE_CLOCK_H_
#define PROOFMILL_TESTS_ENGINE_BASE_FAKE_CLOCK_H_

#include <chrono>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

// Thread safety: every method may be called from any thread.
class FakeClock final : public Clock {
 public:
  time_point Now() override {
    MutexLock lock(mu_);
    return now_;
  }

  void Advance(duration by) {
    MutexLock lock(mu_);
    now_ += by;
  }
  void AdvanceTo(time_point to) {
    MutexLock lock(mu_);
    if (to > now_) now_ = to;
  }

  // Looks at the hand of this clock a thousand times a second, so that a turn is noticed whoever waits on
  // what.
  void WaitUntil(CondVar& cv, Mutex& mu, time_point deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (Now() >= deadline) return;
    cv.WaitUntil(mu, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
  }

 private:
  Mutex mu_;
  time_point now_ ABSL_GUARDED_BY(mu_) = time_point(std::chrono::hours(1));
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_BASE_FAKE_CLOCK_H_
