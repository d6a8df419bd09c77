// One thread that a caller gives work to again and again, so that short work beside its own does not pay for
// a new thread each time (0.1 ms with its stack and its exit).

#ifndef PROOFMILL_ENGINE_BASE_SIDE_THREAD_H_
#define PROOFMILL_ENGINE_BASE_SIDE_THREAD_H_

#include <optional>
#include <thread>

#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

// Used by one thread at a time. The destructor waits for the work that was given, and ends the thread.
class SideThread {
 public:
  SideThread() = default;
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Runs `work` on the side thread, which the first call starts. Returns false, and runs nothing, when no
  // thread can be had. REQUIRES: `work` does not throw, and it and what it refers to live until Wait() has
  // returned; no other work is under way.
  bool Start(absl::FunctionRef<void()> work);
  // Until the work that was given is done. Returns at once if there is none.
  void Wait();

 private:
  void Loop();

  Mutex mu_;
  CondVar changed_;
  std::optional<absl::FunctionRef<void()>> work_ ABSL_GUARDED_BY(mu_);  // until it is done
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_SIDE_THREAD_H_
