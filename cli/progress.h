// A status line on stderr for commands that take longer than two seconds, shown only when stderr is a
// terminal.
//
// Thread safety: Set() may be called from any thread. The destructor wipes the line and joins the thread that
// draws it, so that what is printed afterwards starts on a clean line.

#ifndef PROOFMILL_CLI_PROGRESS_H_
#define PROOFMILL_CLI_PROGRESS_H_

#include <chrono>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "engine/base/mutex.h"

namespace proofmill::cli {

class Progress {
 public:
  // `what` says what is going on now, for instance "reading the key".
  explicit Progress(absl::string_view what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void Set(absl::string_view what);
  // What was set last.
  std::string what();

 private:
  void Draw();

  const std::chrono::steady_clock::time_point start_;
  engine::Mutex mu_;
  engine::CondVar changed_;
  std::string what_ ABSL_GUARDED_BY(mu_);
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // not started without a terminal
};

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_PROGRESS_H_
