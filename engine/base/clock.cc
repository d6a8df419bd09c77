#include "engine/base/clock.h"

namespace proofmill::engine {
namespace {

class SteadyClock final : public Clock {
 public:
  time_point Now() override { return std::chrono::steady_clock::now(); }

  void WaitUntil(CondVar& cv, Mutex& mu, time_point deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    // wait_until() with the largest time point may overflow inside the library.
    if (deadline == time_point::max()) {
      cv.Wait(mu);
      return;
    }
    cv.WaitUntil(mu, deadline);
  }
};

}  // namespace

Clock& Clock::Real() {
  static SteadyClock clock;
  return clock;
}

}  // namespace proofmill::engine
