// What a process says about itself, for its status: since when it runs and where it listens.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_PROCESS_FACTS_H_
#define PROOFMILL_SERVER_PROCESS_FACTS_H_

#include <chrono>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/base/mutex.h"

namespace proofmill::server {

class ProcessFacts {
 public:
  // Addresses as HOST:PORT; empty: not yet bound.
  struct Listeners {
    std::string data, admin, metrics;
    bool data_tls = false;
  };

  absl::Time start_time() const { return start_time_; }
  std::chrono::nanoseconds uptime() const { return std::chrono::steady_clock::now() - start_; }

  void SetListeners(Listeners listeners) {
    engine::MutexLock lock(mu_);
    listeners_ = std::move(listeners);
  }
  Listeners listeners() const {
    engine::MutexLock lock(mu_);
    return listeners_;
  }

 private:
  const absl::Time start_time_ = absl::Now();
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable engine::Mutex mu_;
  Listeners listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_PROCESS_FACTS_H_
