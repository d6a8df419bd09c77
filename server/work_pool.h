// A few threads for short work that is too long for gRPC's own threads, such as checking a proof: health and
// new calls must not wait behind it. Owners of work take turns, and share the queue: whoever has much of it
// waiting makes room for whoever has little.
//
// Thread safety: every method may be called from any thread, but for the destructor.

#ifndef PROOFMILL_SERVER_WORK_POOL_H_
#define PROOFMILL_SERVER_WORK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
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

  // Exactly one of the two is called, by a thread of the pool or by one that is in TryRun(). They must not
  // throw.
  struct Work {
    std::function<void()> run;
    // It was taken, and had to make room.
    std::function<void()> refuse;
  };
  // Takes `work`, to be run soon; or returns false, with nothing done, if the queue is full and nobody has
  // more waiting than `owner` would have.
  bool TryRun(std::string_view owner, Work work);

 private:
  struct Queue {
    std::deque<Work> work;
    uint64_t turn = 0;  // the least is next
  };

  void Loop();
  // The longest queue; null if `owner` would have as much with one more.
  Queue* FindLongerLocked(std::string_view owner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What is to be run next. REQUIRES: something waits.
  std::function<void()> TakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t queue_max_;
  const DepthListener listener_;
  engine::Mutex mu_;
  engine::CondVar changed_;
  std::map<std::string, Queue, std::less<>> queues_ ABSL_GUARDED_BY(mu_);  // by owner
  uint64_t last_turn_ ABSL_GUARDED_BY(mu_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_WORK_POOL_H_
