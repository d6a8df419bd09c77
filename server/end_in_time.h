// The last resort for a process that shall end: a thread that hangs in a call of a driver never comes back,
// and whoever waits for it would wait for ever.

#ifndef PROOFMILL_SERVER_END_IN_TIME_H_
#define PROOFMILL_SERVER_END_IN_TIME_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "engine/base/mutex.h"

namespace proofmill::server {

// Ends the process with `exit_code` when this still lives after `limit`, and calls `tell` before, on a thread
// of its own. No destructor runs then.
class EndInTime {
 public:
  EndInTime(absl::Duration limit, int exit_code, std::function<void()> tell);
  ~EndInTime();
  EndInTime(const EndInTime&) = delete;
  EndInTime& operator=(const EndInTime&) = delete;

 private:
  engine::Mutex mu_;
  engine::CondVar changed_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_END_IN_TIME_H_
