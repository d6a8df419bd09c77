#include "server/log_sink.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "nlohmann/json.hpp"
#include "server/log.h"

namespace proofmill::server {

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  WriteUnfinished();
  if (lost_ != 0 && Write(LogLine("warn", "log_lines_lost", {{"count", lost_}}) + "\n")) lost_ = 0;
  if (!Write({line.data(), line.size()})) ++lost_;
}

void LogSink::WriteUnfinished() {
  const std::string rest = std::exchange(unfinished_, {});
  if (!Write(rest)) unfinished_ = rest;
}

bool LogSink::Write(std::string_view text) {
  if (!unfinished_.empty()) return false;
  const size_t size = text.size();
  while (!text.empty() && IsWritable()) {
    const ssize_t written = write(fd_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // a full disk, or nobody is there any more
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (text.size() == size) return false;
  unfinished_ = text;
  return true;
}

bool LogSink::IsWritable() {
  pollfd fd{.fd = fd_, .events = POLLOUT, .revents = 0};
  const int patience = stalled_ ? 0 : static_cast<int>(kPatience.count());
  int ready = 0;
  do {
    ready = poll(&fd, 1, patience);
  } while (ready < 0 && errno == EINTR);
  stalled_ = ready == 0;
  return ready > 0 && (fd.revents & POLLOUT) != 0;
}

}  // namespace proofmill::server
