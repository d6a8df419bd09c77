#include "server/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace proofmill::server {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr char kEvent[] = "audit";

}  // namespace

AuditLog::AuditLog(std::string path, Log& log, std::function<void()> on_failure)
    : path_(std::move(path)), log_(log), on_failure_(std::move(on_failure)) {}

absl::Status AuditLog::Check() { return path_.empty() ? absl::OkStatus() : Append(""); }

void AuditLog::Write(const nlohmann::ordered_json& fields) {
  if (path_.empty()) {
    log_.Always(kEvent, fields);
    return;
  }
  const absl::Status status = Append(LogLine("info", kEvent, fields) + "\n");
  if (status.ok()) return;
  on_failure_();
  nlohmann::ordered_json lost = fields;
  lost["failure"] = std::string(status.message());
  log_.Error(kEvent, lost);
}

absl::Status AuditLog::Append(const std::string& line) {
  const auto failed = [this](const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat("audit_log: ", path_, ": cannot be ", what, ": ", std::strerror(errno)));
  };
  engine::MutexLock lock(mu_);
  const int fd = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, kOwnerOnly);
  if (fd < 0) return failed("opened for appending");
  const ssize_t written = write(fd, line.data(), line.size());
  const absl::Status status =
      written == static_cast<ssize_t>(line.size()) ? absl::OkStatus() : failed("written to");
  close(fd);
  return status;
}

}  // namespace proofmill::server
