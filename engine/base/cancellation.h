// A flag that one thread raises and a prover polls between its stages.

#ifndef PROOFMILL_ENGINE_BASE_CANCELLATION_H_
#define PROOFMILL_ENGINE_BASE_CANCELLATION_H_

#include <atomic>
#include <chrono>

#include "absl/status/status.h"

namespace proofmill::engine {

// Thread safety: Cancel() and Check() may be called from any thread, any number of times.
// The flag carries no data, so relaxed order is enough.
class CancellationToken {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CancellationToken(Clock::time_point deadline = Clock::time_point::max()) : deadline_(deadline) {}

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  Clock::time_point deadline() const { return deadline_; }

  // OK while the work is still wanted.
  //   CANCELLED          Cancel() was called.
  //   DEADLINE_EXCEEDED  the deadline has passed.
  [[nodiscard]] absl::Status Check() const {
    if (cancelled_.load(std::memory_order_relaxed)) return absl::CancelledError("cancelled by the client");
    if (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_) {
      return absl::DeadlineExceededError("the deadline passed before the proof was done");
    }
    return absl::OkStatus();
  }

 private:
  std::atomic<bool> cancelled_{false};
  const Clock::time_point deadline_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_CANCELLATION_H_
