// Where lines of the log go: a file descriptor whose reader may stall.
//
// Who reads a pipe or a terminal can stop reading for ever, and a service must not stop with it: a line that
// cannot be written is given up. Once the descriptor takes something again the first line says how many are
// lost: {"event":"log_lines_lost","count":123}.
//
// A pipe that is reported writable takes PIPE_BUF bytes without blocking (pipe(7)), so that lines are written
// in pieces of at most that. REQUIRES: nobody else writes to the descriptor, but for a line now and then.

#ifndef PROOFMILL_SERVER_LOG_SINK_H_
#define PROOFMILL_SERVER_LOG_SINK_H_

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "spdlog/sinks/base_sink.h"

namespace proofmill::server {

class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // A reader that is only slow gets so much time, once until it has caught up.
  static constexpr std::chrono::milliseconds kPatience{100};

  // Does not close `fd`.
  explicit LogSink(int fd) : fd_(fd) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  // Writes `text`, or keeps in unfinished_ what is left of it once a part is written. False if nothing is, as
  // while something is unfinished.
  bool Write(std::string_view text);
  void WriteUnfinished();
  // Whether a piece can be written without blocking; waits for that unless it waited in vain before.
  bool IsWritable();

  const int fd_;
  bool stalled_ = false;
  uint64_t lost_ = 0;       // lines since the last that was written
  std::string unfinished_;  // the rest of a line
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_LOG_SINK_H_
