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
    Queue* longer = nullptr;
    if (waiting_ >= queue_max_) {
      longer = FindLongerLocked(owner);
      if (longer == nullptr) return false;
    }
    // What may throw comes first, so that nothing that was taken is lost.
    Queue& queue = queues_[std::string(owner)];
    queue.work.push_back(std::move(work));
    if (queue.work.size() == 1) queue.turn = ++last_turn_;
    if (longer != nullptr) {
      displaced = std::move(longer->work.back());
      longer->work.pop_back();
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

WorkPool::Queue* WorkPool::FindLongerLocked(std::string_view owner) {
  const auto longest = std::max_element(queues_.begin(), queues_.end(), [](const auto& a, const auto& b) {
    return a.second.work.size() < b.second.work.size();
  });
  const auto own = queues_.find(owner);
  const size_t own_size = own == queues_.end() ? 0 : own->second.work.size();
  if (longest == queues_.end() || longest->second.work.size() <= own_size + 1) return nullptr;
  return &longest->second;
}

std::function<void()> WorkPool::TakeLocked() {
  const auto next = std::min_element(queues_.begin(), queues_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.work.empty(), a.second.turn) < std::pair(b.second.work.empty(), b.second.turn);
  });
  Queue& queue = next->second;
  std::function<void()> run = std::move(queue.work.front().run);
  queue.work.pop_front();
  queue.turn = ++last_turn_;
  --waiting_;
  if (queue.work.empty()) queues_.erase(next);
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
