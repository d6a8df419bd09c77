#include "server/run_server.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/backend/select.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/dispatch/device_runner.h"
#include "engine/formats/file.h"
#include "nlohmann/json.hpp"
#include "server/build_info.h"
#include "server/end_in_time.h"
#include "server/environment.h"
#include "server/library_logs.h"
#include "server/process.h"
#include "server/server.h"

namespace proofmill::server {
namespace {

LogLevel ToLogLevel(const std::string& level) {
  if (level == "debug") return LogLevel::kDebug;
  if (level == "warn") return LogLevel::kWarn;
  if (level == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

// Beyond the time that a drain may take: the joining of threads, and the last stage of a proof that was cut.
constexpr absl::Duration kEndMargin = absl::Seconds(30);
// As where no device is left: only a new process can help.
constexpr int kHangsExitCode = 4;
constexpr absl::Duration kLastAnswersTime = absl::Milliseconds(100);

std::string Addresses(const Server& server, const char* separator) {
  return absl::StrCat("data=", server.data_address(), separator, "admin=", server.admin_address(), separator,
                      "metrics=", server.metrics_address());
}

// A closed standard output is no reason to end a service.
void Say(const std::string& line) {
  std::printf("proofmill %s\n", line.c_str());
  std::fflush(stdout);
}

absl::StatusOr<Server::Runners> MakeRunners(const Config& config, Log& log) {
  PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(config.cpu_arithmetic));
  PROOFMILL_ASSIGN_OR_RETURN(
      engine::BackendSelection selection,
      engine::MakeBackends(config.backend,
                           {.cpu_threads = static_cast<size_t>(config.threads),
                            .device_memory_limit = static_cast<size_t>(config.device_memory_limit.bytes)}));
  log.Info("backends", {{"count", selection.backends.size()}, {"reason", selection.reason}});
  Server::Runners runners;
  for (auto& backend : selection.backends) {
    runners.push_back(std::make_unique<engine::DeviceRunner>(std::move(backend)));
  }
  if (config.cpu_takeover && runners.front()->info().backend != "cpu") {
    PROOFMILL_ASSIGN_OR_RETURN(
        engine::BackendSelection cpu,
        engine::MakeBackends("cpu", {.cpu_threads = static_cast<size_t>(config.threads)}));
    runners.push_back(std::make_unique<engine::DeviceRunner>(std::move(cpu.backends.front())));
  }
  return runners;
}

}  // namespace

void StopRequest::Raise(ServeEnd why) {
  engine::MutexLock lock(mu_);
  if (!why_.has_value()) why_ = why;
  changed_.NotifyAll();
}

std::optional<ServeEnd> StopRequest::WaitFor(absl::Duration duration) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(duration);
  engine::MutexLock lock(mu_);
  while (!why_.has_value() && std::chrono::steady_clock::now() < deadline) changed_.WaitUntil(mu_, deadline);
  return why_;
}

ServeEnd ServeUntilStopped(Server& server, StopRequest& stop) {
  server.engine().health().AddListener([&stop](const engine::HealthStatus& health) {
    if (!health.live) stop.Raise(ServeEnd::kNoDeviceLeft);
  });
  bool told = false;
  // Loading a key takes long against this, and nothing but the line waits for it.
  while (true) {
    if (const auto why = stop.WaitFor(told ? absl::Hours(1) : absl::Milliseconds(20))) return *why;
    const engine::HealthStatus health = server.engine().health().status();
    if (told || !health.started) continue;
    told = true;
    Say(health.ready ? absl::StrCat("ready ", Addresses(server, " "))
                     : absl::StrCat("not ready: ", health.why_not_ready));
  }
}

absl::StatusOr<ServeEnd> RunServer(const Config& config) {
  BlockStopSignals();
  SetCoreDumps(config.core_dumps);
  const std::unique_ptr<Log> log = Log::ToStderr(ToLogLevel(config.log_level));
  const LibraryLogs library_logs(*log);
  const BuildInfo build = ThisBuild();
  log->Info("start", {{"version", build.version}, {"revision", build.revision}, {"cuda", build.cuda}});
  for (const std::string& name : UnknownVariables(environ)) {
    log->Warn("unknown_variable",
              {{"name", name}, {"message", "no setting has this name, so it has no effect"}});
  }
  StopRequest stop;
  // From here on a signal ends the process in order, however far the start has come.
  const SignalWaiter signals([&](int signal) {
    log->Info("signal", {{"signal", signal}});
    stop.Raise(ServeEnd::kStopped);
  });

  PROOFMILL_ASSIGN_OR_RETURN(Server::Runners runners, MakeRunners(config, *log));
  PROOFMILL_ASSIGN_OR_RETURN(const auto server, Server::Start(config, std::move(runners), *log));
  log->Info("listening", {{"data", server->data_address()},
                          {"admin", server->admin_address()},
                          {"metrics", server->metrics_address()},
                          {"tls", config.tls()}});
  if (!config.port_file.empty()) {
    PROOFMILL_RETURN_IF_ERROR(
        engine::WriteFileAtomically(config.port_file, absl::StrCat(Addresses(*server, "\n"), "\n")));
  }
  Say(absl::StrCat("listening ", Addresses(*server, " ")));
  const ServeEnd end = ServeUntilStopped(*server, stop);
  // Without a device there is nothing to serve on for; whoever asks is told so, and goes elsewhere.
  const absl::Duration longest = end == ServeEnd::kNoDeviceLeft ? kLastAnswersTime : absl::InfiniteDuration();
  const EndInTime in_time(config.drain_delay + config.shutdown_grace + kEndMargin, kHangsExitCode, [&log] {
    log->Error("drain",
               {{"step", "given_up"}, {"message", "a device hangs and does not let the process end"}});
  });
  server->Drain([longest](absl::Duration delay) { absl::SleepFor(std::min(delay, longest)); });
  return end;
}

}  // namespace proofmill::server
