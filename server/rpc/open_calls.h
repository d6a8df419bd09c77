// How many calls are open, for whoever waits until there are none.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_RPC_OPEN_CALLS_H_
#define PROOFMILL_SERVER_RPC_OPEN_CALLS_H_

#include <chrono>
#include <cstddef>

#include "engine/base/mutex.h"

namespace proofmill::server {

class OpenCalls {
 public:
  void Add() {
    engine::MutexLock lock(mu_);
    ++count_;
  }
  void Remove() {
    engine::MutexLock lock(mu_);
    if (--count_ == 0) none_.NotifyAll();
  }
  size_t count() const {
    engine::MutexLock lock(mu_);
    return count_;
  }
  // Waits until no call is open; false when `deadline` came first.
  bool WaitForNone(std::chrono::steady_clock::time_point deadline) {
    engine::MutexLock lock(mu_);
    while (count_ != 0) {
      if (!none_.WaitUntil(mu_, deadline)) return count_ == 0;
    }
    return true;
  }

 private:
  mutable engine::Mutex mu_;
  engine::CondVar none_;
  size_t count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_OPEN_CALLS_H_
