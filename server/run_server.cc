#include "server/run_server.h"

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
#include "engine/dispatch/groth16_runner.h"
#include "engine/formats/file.h"
#include "nlohmann/json.hpp"
#include "server/build_info.h"
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

// The wish to stop, raised by the signal thread and waited for by the main one.
class StopRequest {
 public:
  void Raise() {
    engine::MutexLock lock(mu_);
    raised_ = true;
    changed_.NotifyAll();
  }
  // Waits until it is raised, or for `duration`; returns whether it is raised.
  bool WaitFor(absl::Duration duration) {
    const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(duration);
    engine::MutexLock lock(mu_);
    while (!raised_ && std::chrono::steady_clock::now() < deadline) changed_.WaitUntil(mu_, deadline);
    return raised_;
  }

 private:
  engine::Mutex mu_;
  engine::CondVar changed_;
  bool raised_ ABSL_GUARDED_BY(mu_) = false;
};

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
    runners.push_back(std::make_unique<engine::Groth16Runner>(std::move(backend)));
  }
  return runners;
}

// Waits until the circuits have settled, tells how it went, and then waits for the wish to stop.
void ServeUntilStopped(Server& server, StopRequest& stop) {
  bool told = false;
  // Loading a key takes long against this, and nothing but the line waits for it.
  while (!stop.WaitFor(told ? absl::Hours(1) : absl::Milliseconds(20))) {
    const engine::HealthStatus health = server.engine().health().status();
    if (told || !health.started) continue;
    told = true;
    Say(health.ready ? absl::StrCat("ready ", Addresses(server, " "))
                     : absl::StrCat("not ready: ", health.why_not_ready));
  }
}

}  // namespace

absl::Status RunServer(const Config& config) {
  BlockStopSignals();
  SetCoreDumps(config.core_dumps);
  const std::unique_ptr<Log> log = Log::ToStderr(ToLogLevel(config.log_level));
  const LibraryLogs library_logs(*log);
  const BuildInfo build = ThisBuild();
  log->Info("start", {{"version", build.version}, {"revision", build.revision}, {"cuda", build.cuda}});
  StopRequest stop;
  // From here on a signal ends the process in order, however far the start has come.
  const SignalWaiter signals([&](int signal) {
    log->Info("signal", {{"signal", signal}});
    stop.Raise();
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
  ServeUntilStopped(*server, stop);
  server->Drain([](absl::Duration delay) { absl::SleepFor(delay); });
  return absl::OkStatus();
}

}  // namespace proofmill::server
