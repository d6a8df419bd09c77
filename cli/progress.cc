#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "engine/base/thread.h"

namespace proofmill::cli {
namespace {

constexpr auto kQuietTime = std::chrono::seconds(2);
constexpr auto kRedrawTime = std::chrono::milliseconds(200);

}  // namespace

Progress::Progress(absl::string_view what) : start_(std::chrono::steady_clock::now()), what_(what) {
  if (::isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { Draw(); });
}

Progress::~Progress() {
  {
    engine::MutexLock lock(mu_);
    stop_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Progress::Set(absl::string_view what) {
  engine::MutexLock lock(mu_);
  what_ = std::string(what);
}

std::string Progress::what() {
  engine::MutexLock lock(mu_);
  return what_;
}

void Progress::Draw() {
  engine::SetThreadName("progress");
  auto next = start_ + kQuietTime;
  bool drawn = false;
  engine::MutexLock lock(mu_);
  while (!stop_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next) {
      const double seconds = std::chrono::duration<double>(now - start_).count();
      std::fprintf(stderr, "\r\033[K%s ... %.1f s", what_.c_str(), seconds);
      std::fflush(stderr);
      drawn = true;
      next = now + kRedrawTime;
    }
    changed_.WaitUntil(mu_, next);
  }
  if (drawn) std::fprintf(stderr, "\r\033[K");
}

}  // namespace proofmill::cli
