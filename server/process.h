// What the service sets for its whole process: memory, core dumps, signals.
//
// Order: HardenProcess() first in main; BlockStopSignals() before the first thread is started, since threads
// inherit the mask; then one SignalWaiter.

#ifndef PROOFMILL_SERVER_PROCESS_H_
#define PROOFMILL_SERVER_PROCESS_H_

#include <functional>
#include <thread>

#include "absl/status/status.h"

namespace proofmill::server {

// Makes OpenSSL overwrite what it has decrypted once that is handed on, of which it keeps the last 16 KiB of
// each connection otherwise, and malloc keep some memory for the next messages, since what it gives back has
// to be cleared again. What is freed is overwritten by cli/wiping_free.cc.
void HardenProcess();

// Forbids core dumps and debuggers of other users for this process, or allows them.
void SetCoreDumps(bool allowed);

// Makes the calling thread, and all threads that it starts from now on, leave SIGTERM, SIGINT and SIGHUP
// (where it is not ignored) to SignalWaiter, and the whole process ignore SIGPIPE.
void BlockStopSignals();

// A thread that waits for one of these signals.
class SignalWaiter {
 public:
  // The exit code of the process when a second signal comes: as a shell names a process killed by that
  // signal.
  static constexpr int kSecondSignalExitBase = 128;

  // Calls `on_stop` with the first signal, on its own thread. A second signal ends the process at once, with
  // exit code 128 + signal, whatever is going on. REQUIRES: BlockStopSignals() was called by this thread.
  explicit SignalWaiter(std::function<void(int signal)> on_stop);
  ~SignalWaiter();
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

 private:
  void Run(const std::function<void(int signal)>& on_stop);

  int wake_fd_;  // an eventfd that ends the thread
  std::thread thread_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_PROCESS_H_
