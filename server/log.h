// Structured logs: one JSON object a line, on standard error.
//
//   {"time":"2026-01-31T12:00:00.000Z","level":"info","event":"rpc","code":"OK",...}
//
// An event is a fixed name; what varies goes into fields. Never give a field a value of a witness, a proof's
// blinding, a credential, or the name of an upload. Strings that are not UTF-8 are written with replacement
// characters.
//
// Where the reader of standard error stalls, lines are lost, and nobody waits (log_sink.h).
//
// Thread safety: every method may be called from any thread; lines never mix.

#ifndef PROOFMILL_SERVER_LOG_H_
#define PROOFMILL_SERVER_LOG_H_

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "nlohmann/json_fwd.hpp"

namespace spdlog {
class logger;
}

namespace proofmill::server {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// The line of an event without its end: "time", "level" and "event", then `fields`.
std::string LogLine(std::string_view level, std::string_view event, const nlohmann::ordered_json& fields);

class Log {
 public:
  // Writes to standard error what is at least as grave as `level`.
  static std::unique_ptr<Log> ToStderr(LogLevel level);
  // Writes to `out`, which must outlive the log. For tests.
  static std::unique_ptr<Log> ToStream(std::ostream& out, LogLevel level);

  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // `fields` is a JSON object; "time", "level" and "event" are put before it.
  void Debug(std::string_view event, const nlohmann::ordered_json& fields);
  void Info(std::string_view event, const nlohmann::ordered_json& fields);
  void Warn(std::string_view event, const nlohmann::ordered_json& fields);
  void Error(std::string_view event, const nlohmann::ordered_json& fields);
  // Written whatever the level.
  void Always(std::string_view event, const nlohmann::ordered_json& fields);

  LogLevel level() const;
  // Writes from now on what is at least as grave as `level`; returns what counted before.
  LogLevel SetLevel(LogLevel level);

 private:
  explicit Log(std::shared_ptr<spdlog::logger> logger);
  void Write(LogLevel level, std::string_view event, const nlohmann::ordered_json& fields);

  const std::shared_ptr<spdlog::logger> logger_;  // its level may be changed from any thread
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_LOG_H_
