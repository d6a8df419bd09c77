#include "engine/base/side_thread.h"

#include <exception>

#include "engine/base/thread.h"

namespace proofmill::engine {

SideThread::~SideThread() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mu_);
    ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

bool SideThread::Start(absl::FunctionRef<void()> work) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Loop(); });
    } catch (const std::exception&) {  // no thread or no memory for one
      return false;
    }
  }
  {
    MutexLock lock(mu_);
    work_.emplace(work);
  }
  changed_.NotifyAll();
  return true;
}

void SideThread::Wait() {
  MutexLock lock(mu_);
  while (work_.has_value()) changed_.Wait(mu_);
}

void SideThread::Loop() {
  SetThreadName("side");
  mu_.Lock();
  while (true) {
    while (!ending_ && !work_.has_value()) changed_.Wait(mu_);
    if (!work_.has_value()) break;  // ending, with nothing left to do
    const absl::FunctionRef<void()> work = *work_;
    mu_.Unlock();
    work();
    mu_.Lock();
    work_.reset();
    changed_.NotifyAll();
  }
  mu_.Unlock();
}

}  // namespace proofmill::engine
