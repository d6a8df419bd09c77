#include "server/library_logs.h"

#include <grpc/support/log.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/mutex.h"
#include "google/protobuf/stubs/logging.h"
#include "nlohmann/json.hpp"

namespace proofmill::server {
namespace {

// The handlers have no argument of ours, so the log that they write to is global. Guarded, so that no line is
// being written any more once the destructor has returned. Never destroyed: libraries log until the very end.
struct Target {
  engine::Mutex mu;
  Log* log ABSL_GUARDED_BY(mu) = nullptr;
};

Target& TheTarget() {
  static auto* const target = new Target;
  return *target;
}

void Write(LogLevel level, const char* library, const char* file, int line, const std::string& message) {
  const char* const slash = std::strrchr(file, '/');
  Target& target = TheTarget();
  engine::MutexLock lock(target.mu);
  if (target.log == nullptr) return;
  const nlohmann::ordered_json fields = {
      {"library", library},
      {"source", absl::StrCat(slash == nullptr ? file : slash + 1, ":", line)},
      {"message", message}};
  if (level == LogLevel::kError) target.log->Error("library", fields);
  if (level == LogLevel::kWarn) target.log->Warn("library", fields);
  if (level == LogLevel::kDebug) target.log->Debug("library", fields);
}

// An exception must not go through C code: a line that there is no memory for is lost.
void OnGrpcLog(gpr_log_func_args* args) try {
  Write(args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kError : LogLevel::kDebug, "grpc", args->file,
        args->line, args->message);
} catch (const std::exception&) {
}

void OnProtobufLog(google::protobuf::LogLevel level, const char* file, int line,
                   const std::string& message) try {
  Write(level >= google::protobuf::LOGLEVEL_ERROR     ? LogLevel::kError
        : level == google::protobuf::LOGLEVEL_WARNING ? LogLevel::kWarn
                                                      : LogLevel::kDebug,
        "protobuf", file, line, message);
} catch (const std::exception&) {
}

}  // namespace

LibraryLogs::LibraryLogs(Log& log) {
  {
    Target& target = TheTarget();
    engine::MutexLock lock(target.mu);
    target.log = &log;
  }
  gpr_set_log_function(&OnGrpcLog);
  google::protobuf::SetLogHandler(&OnProtobufLog);
}

LibraryLogs::~LibraryLogs() {
  Target& target = TheTarget();
  engine::MutexLock lock(target.mu);
  target.log = nullptr;
}

}  // namespace proofmill::server
