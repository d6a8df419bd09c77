#include "server/end_in_time.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "engine/base/thread.h"

namespace proofmill::server {

EndInTime::EndInTime(absl::Duration limit, int exit_code, std::function<void()> tell) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(limit);
  thread_ = std::thread([this, deadline, exit_code, tell = std::move(tell)] {
    engine::SetThreadName("pm-end");
    {
      engine::MutexLock lock(mu_);
      while (!ended_ && std::chrono::steady_clock::now() < deadline) changed_.WaitUntil(mu_, deadline);
      if (ended_) return;
    }
    tell();
    _exit(exit_code);
  });
}

EndInTime::~EndInTime() {
  {
    engine::MutexLock lock(mu_);
    ended_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

}  // namespace proofmill::server
