#include "server/log.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "server/log_sink.h"
#include "spdlog/logger.h"
#include "spdlog/sinks/ostream_sink.h"

namespace proofmill::server {
namespace {

struct LevelName {
  spdlog::level::level_enum level;
  const char* name;
};

LevelName ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return {spdlog::level::debug, "debug"};
    case LogLevel::kInfo:
      return {spdlog::level::info, "info"};
    case LogLevel::kWarn:
      return {spdlog::level::warn, "warn"};
    case LogLevel::kError:
      return {spdlog::level::err, "error"};
  }
  return {spdlog::level::err, "error"};
}

std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("proofmill", std::move(sink));
  // The line is finished JSON: spdlog's own pattern would not escape quotes and line ends.
  logger->set_pattern("%v");
  logger->set_level(ToSpdlog(level).level);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

}  // namespace

std::string LogLine(std::string_view level, std::string_view event, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line;
  line["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  line["level"] = level;
  line["event"] = event;
  if (fields.is_object()) line.update(fields);
  // A string that is not UTF-8 must not throw: this is called where nobody could catch it.
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::unique_ptr<Log> Log::ToStderr(LogLevel level) {
  return std::unique_ptr<Log>(new Log(MakeLogger(std::make_shared<LogSink>(STDERR_FILENO), level)));
}

std::unique_ptr<Log> Log::ToStream(std::ostream& out, LogLevel level) {
  return std::unique_ptr<Log>(
      new Log(MakeLogger(std::make_shared<spdlog::sinks::ostream_sink_mt>(out), level)));
}

Log::Log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
Log::~Log() = default;

void Log::Debug(std::string_view event, const nlohmann::ordered_json& fields) {
  Write(LogLevel::kDebug, event, fields);
}
void Log::Info(std::string_view event, const nlohmann::ordered_json& fields) {
  Write(LogLevel::kInfo, event, fields);
}
void Log::Warn(std::string_view event, const nlohmann::ordered_json& fields) {
  Write(LogLevel::kWarn, event, fields);
}
void Log::Error(std::string_view event, const nlohmann::ordered_json& fields) {
  Write(LogLevel::kError, event, fields);
}

void Log::Always(std::string_view event, const nlohmann::ordered_json& fields) {
  logger_->log(spdlog::level::critical, LogLine("info", event, fields));
}

LogLevel Log::level() const {
  switch (logger_->level()) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::info:
      return LogLevel::kInfo;
    case spdlog::level::warn:
      return LogLevel::kWarn;
    default:
      return LogLevel::kError;
  }
}

LogLevel Log::SetLevel(LogLevel level) {
  const LogLevel before = this->level();
  logger_->set_level(ToSpdlog(level).level);
  return before;
}

void Log::Write(LogLevel level, std::string_view event, const nlohmann::ordered_json& fields) {
  const LevelName level_name = ToSpdlog(level);
  if (!logger_->should_log(level_name.level)) return;
  logger_->log(level_name.level, LogLine(level_name.name, event, fields));
}

}  // namespace proofmill::server
