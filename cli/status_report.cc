#include "cli/status_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/circuit_report.h"
#include "cli/table.h"

namespace proofmill::cli {
namespace {

double Seconds(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + duration.nanos() * 1e-9;
}

absl::Time TimeOf(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  return absl::FormatTime(absl::RFC3339_full, TimeOf(time), absl::UTCTimeZone());
}

// Text of a service as one line for a terminal.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

const char* PriorityText(v1::Priority priority) {
  switch (priority) {
    case v1::PRIORITY_LOW:
      return "low";
    case v1::PRIORITY_HIGH:
      return "high";
    default:
      return "normal";
  }
}

std::string HealthText(const v1::ProcessHealth& health) {
  if (health.ready()) return "ready";
  return absl::StrCat("not ready: ", OneLine(health.why_not_ready()));
}

std::string QueueText(const v1::Queue& queue) {
  std::string out = "queue:";
  for (const v1::QueuedJobs& waiting : queue.waiting()) {
    absl::StrAppend(&out, " ", waiting.jobs(), " ", PriorityText(waiting.priority()), ",");
  }
  absl::StrAppend(&out, " ", queue.running(), " running; places ", queue.places_taken(), " of ",
                  queue.places_max(), "; witnesses ", FormatBytes(queue.witness_bytes()), " of ",
                  FormatBytes(queue.witness_bytes_max()), "; uploads ", queue.uploads(), " of ",
                  queue.uploads_max(), "\nbacklog: ", FormatSeconds(Seconds(queue.backlog())));
  if (queue.has_estimated_wait()) {
    absl::StrAppend(&out, "; a new job waits ", FormatSeconds(Seconds(queue.estimated_wait())));
  }
  return absl::StrCat(out, "; open calls ", queue.open_calls(), "\n");
}

uint64_t MemoryOf(const v1::Device& device, const std::string& kind, bool& known) {
  for (const v1::DeviceMemory& memory : device.memory()) {
    if (memory.kind() != kind) continue;
    known = true;
    return memory.bytes();
  }
  known = false;
  return 0;
}

std::string MemoryText(const v1::Device& device, const std::string& kind) {
  bool known = false;
  const uint64_t bytes = MemoryOf(device, kind, known);
  return known ? FormatBytes(bytes) : "-";
}

// Ages go by the clock of the service.
std::string LastProofText(const v1::GetStatusResponse& status, const v1::Device& device) {
  if (!device.has_last_proof_time()) return "-";
  const absl::Time now = TimeOf(status.start_time()) + absl::Seconds(Seconds(status.uptime()));
  const double age = absl::ToDoubleSeconds(now - TimeOf(device.last_proof_time()));
  return absl::StrCat(FormatSeconds(std::max(age, 0.0)), " ago");
}

std::string DevicesText(const v1::GetStatusResponse& status) {
  Table table(
      {"device", "state", "running", "last proof", "keys", "scratch", "free", "limit", "evictions", "uuid"});
  std::string notes;
  for (const v1::Device& device : status.devices()) {
    const std::string name = OneLine(device.name());
    table.AddRow({name,
                  !device.up()       ? "down"
                  : device.standby() ? "standby"
                                     : "up",
                  absl::StrCat(device.jobs_running(), "/", device.jobs_running_max()),
                  LastProofText(status, device), MemoryText(device, "keys"), MemoryText(device, "scratch"),
                  MemoryText(device, "free"), MemoryText(device, "limit"),
                  absl::StrCat(device.key_evictions()),
                  device.gpu_uuid().empty() ? "-" : OneLine(device.gpu_uuid())});
    if (!device.up()) absl::StrAppend(&notes, name, ": down: ", OneLine(device.why_down()), "\n");
  }
  return absl::StrCat(table.Text(), notes);
}

std::vector<v1::Circuit> CircuitsOf(const v1::GetStatusResponse& status) {
  return {status.circuits().begin(), status.circuits().end()};
}

nlohmann::ordered_json DevicesJson(const v1::GetStatusResponse& status) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const v1::Device& device : status.devices()) {
    nlohmann::ordered_json memory = nlohmann::ordered_json::object();
    for (const v1::DeviceMemory& part : device.memory()) memory[part.kind()] = part.bytes();
    nlohmann::ordered_json entry = {{"name", device.name()}, {"backend", device.backend()}};
    if (!device.gpu_uuid().empty()) entry["gpu_uuid"] = device.gpu_uuid();
    entry["up"] = device.up();
    if (!device.up()) entry["why_down"] = device.why_down();
    entry["standby"] = device.standby();
    entry["jobs_running"] = device.jobs_running();
    entry["jobs_running_max"] = device.jobs_running_max();
    entry["memory_bytes"] = std::move(memory);
    entry["key_evictions"] = device.key_evictions();
    if (device.has_last_proof_time()) entry["last_proof_time"] = TimeText(device.last_proof_time());
    list.push_back(std::move(entry));
  }
  return list;
}

nlohmann::ordered_json QueueJson(const v1::Queue& queue) {
  nlohmann::ordered_json waiting = nlohmann::ordered_json::object();
  for (const v1::QueuedJobs& jobs : queue.waiting()) waiting[PriorityText(jobs.priority())] = jobs.jobs();
  nlohmann::ordered_json out = {{"waiting", std::move(waiting)},
                                {"running", queue.running()},
                                {"places_taken", queue.places_taken()},
                                {"places_max", queue.places_max()},
                                {"witness_bytes", queue.witness_bytes()},
                                {"witness_bytes_max", queue.witness_bytes_max()},
                                {"backlog_seconds", Seconds(queue.backlog())},
                                {"uploads", queue.uploads()},
                                {"uploads_max", queue.uploads_max()},
                                {"open_calls", queue.open_calls()}};
  if (queue.has_estimated_wait()) out["estimated_wait_seconds"] = Seconds(queue.estimated_wait());
  return out;
}

}  // namespace

std::string StatusToText(const v1::GetStatusResponse& status) {
  const v1::Build& build = status.build();
  const v1::Listeners& listeners = status.listeners();
  return absl::StrCat(
      "proofmill ", OneLine(build.version()), " (revision ", OneLine(build.revision()), ", CUDA toolkit ",
      OneLine(build.cuda()), "), up for ",
      absl::FormatDuration(absl::Seconds(static_cast<int64_t>(Seconds(status.uptime())))), " since ",
      absl::FormatTime(absl::RFC3339_sec, TimeOf(status.start_time()), absl::UTCTimeZone()), "\n",
      HealthText(status.health()), "\nlisteners: data ", OneLine(listeners.data()),
      listeners.data_tls() ? " (TLS)" : "", ", admin ", OneLine(listeners.admin()), ", metrics ",
      OneLine(listeners.metrics()), "; log level ", LogLevelName(status.log_level()), "\n",
      QueueText(status.queue()), "\n", DevicesText(status), "\n", CircuitsToText(CircuitsOf(status)));
}

nlohmann::ordered_json StatusToJson(const v1::GetStatusResponse& status) {
  const v1::ProcessHealth& health = status.health();
  return {{"version", status.build().version()},
          {"revision", status.build().revision()},
          {"cuda", status.build().cuda()},
          {"start_time", TimeText(status.start_time())},
          {"uptime_seconds", Seconds(status.uptime())},
          {"ready", health.ready()},
          {"started", health.started()},
          {"live", health.live()},
          {"draining", health.draining()},
          {"why_not_ready", health.why_not_ready()},
          {"listeners",
           {{"data", status.listeners().data()},
            {"admin", status.listeners().admin()},
            {"metrics", status.listeners().metrics()},
            {"data_tls", status.listeners().data_tls()}}},
          {"log_level", LogLevelName(status.log_level())},
          {"queue", QueueJson(status.queue())},
          {"devices", DevicesJson(status)},
          {"circuits", CircuitsToJson(CircuitsOf(status))}};
}

const char* LogLevelName(v1::LogLevel level) {
  switch (level) {
    case v1::LOG_LEVEL_DEBUG:
      return "debug";
    case v1::LOG_LEVEL_INFO:
      return "info";
    case v1::LOG_LEVEL_WARN:
      return "warn";
    case v1::LOG_LEVEL_ERROR:
      return "error";
    default:
      return "unknown";
  }
}

absl::StatusOr<v1::LogLevel> ParseLogLevel(absl::string_view name) {
  for (const v1::LogLevel level :
       {v1::LOG_LEVEL_DEBUG, v1::LOG_LEVEL_INFO, v1::LOG_LEVEL_WARN, v1::LOG_LEVEL_ERROR}) {
    if (name == LogLevelName(level)) return level;
  }
  return absl::InvalidArgumentError(absl::StrCat("expected debug, info, warn or error, got '", name, "'"));
}

}  // namespace proofmill::cli
