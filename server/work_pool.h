// A few threads for short work that is too long for gRPC's own threads, such as checking a proof: health and
// new calls must not wait behind it.
//
// Thread safety: every method may be called from any thread, but for the destructor.

#ifndef PROOFMILL_SERVER_WORK_POOL_H_
#define PROOFMILL_SERVER_WORK_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "engine/base/mutex.h"

namespace proofmill::server {

class WorkPool {
 public:
  struct Options {
    size_t threads;    // positive
    size_t queue_max;  // work that may wait
  };
  // Told of each change of the number that waits.
  using DepthListener = std::function<void(int change)>;

  explicit WorkPool(const Options& options, DepthListener listener = nullptr);
  // Finishes what was taken. REQUIRES: nobody calls TryRun() any more.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // Takes `work`, which must not throw, to be run soon; or returns false, with nothing done, if the queue is
  // full.
  bool TryRun(std::function<void()> work);

 private:
  void Loop();

  const size_t queue_max_;
  const DepthListener listener_;
  engine::Mutex mu_;
  engine::CondVar changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_WORK_POOL_H_
