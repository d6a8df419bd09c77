#include "server/work_pool.h"

#include <utility>

#include "engine/base/thread.h"

namespace proofmill::server {

WorkPool::WorkPool(const Options& options, DepthListener listener)
    : queue_max_(options.queue_max), listener_(std::move(listener)) {
  threads_.reserve(options.threads);
  for (size_t i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this] { Loop(); });
  }
}

WorkPool::~WorkPool() {
  {
    engine::MutexLock lock(mu_);
    ending_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkPool::TryRun(std::function<void()> work) {
  {
    engine::MutexLock lock(mu_);
    if (queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(work));
  }
  if (listener_) listener_(1);
  changed_.NotifyOne();
  return true;
}

void WorkPool::Loop() {
  engine::SetThreadName("pm-verify");
  while (true) {
    std::function<void()> work;
    {
      engine::MutexLock lock(mu_);
      while (queue_.empty() && !ending_) changed_.Wait(mu_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    if (listener_) listener_(-1);
    work();
  }
}

}  // namespace proofmill::server
