#include "server/work_pool.h"

#include <algorithm>
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

bool WorkPool::TryRun(std::string_view owner, Work work) {
  Work displaced;
  {
    engine::MutexLock lock(mu_);
    std::deque<Work>* longer = nullptr;
    if (waiting_ >= queue_max_) {
      longer = FindLongerLocked(owner);
      if (longer == nullptr) return false;
    }
    // What may throw comes first, so that nothing that was taken is lost.
    std::deque<Work>& queue = queues_[std::string(owner)];
    if (queue.empty()) turns_.emplace_back(owner);
    queue.push_back(std::move(work));
    if (longer != nullptr) {
      displaced = std::move(longer->back());
      longer->pop_back();
    } else {
      ++waiting_;
    }
  }
  if (displaced.refuse) {
    displaced.refuse();
  } else if (listener_) {
    listener_(1);
  }
  changed_.NotifyOne();
  return true;
}

std::deque<WorkPool::Work>* WorkPool::FindLongerLocked(std::string_view owner) {
  const auto longest = std::max_element(queues_.begin(), queues_.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  const auto own = queues_.find(owner);
  const size_t own_size = own == queues_.end() ? 0 : own->second.size();
  if (longest == queues_.end() || longest->second.size() <= own_size + 1) return nullptr;
  return &longest->second;
}

std::function<void()> WorkPool::TakeLocked() {
  std::string owner = std::move(turns_.front());
  turns_.pop_front();
  const auto its = queues_.find(owner);
  std::function<void()> run = std::move(its->second.front().run);
  its->second.pop_front();
  --waiting_;
  if (its->second.empty()) {
    queues_.erase(its);
  } else {
    turns_.push_back(std::move(owner));
  }
  return run;
}

void WorkPool::Loop() {
  engine::SetThreadName("pm-pool");
  while (true) {
    std::function<void()> run;
    {
      engine::MutexLock lock(mu_);
      while (waiting_ == 0 && !ending_) changed_.Wait(mu_);
      if (waiting_ == 0) return;
      run = TakeLocked();
    }
    if (listener_) listener_(-1);
    run();
  }
}

}  // namespace proofmill::server
