#include "server/rpc/status_service.h"

#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "server/build_info.h"
#include "server/rpc/admin_call.h"
#include "server/rpc/circuit_message.h"
#include "server/rpc/convert.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

v1::LogLevel ToProto(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return v1::LOG_LEVEL_DEBUG;
    case LogLevel::kInfo:
      return v1::LOG_LEVEL_INFO;
    case LogLevel::kWarn:
      return v1::LOG_LEVEL_WARN;
    case LogLevel::kError:
      return v1::LOG_LEVEL_ERROR;
  }
  return v1::LOG_LEVEL_UNSPECIFIED;
}

std::optional<LogLevel> FromProto(v1::LogLevel level) {
  switch (level) {
    case v1::LOG_LEVEL_DEBUG:
      return LogLevel::kDebug;
    case v1::LOG_LEVEL_INFO:
      return LogLevel::kInfo;
    case v1::LOG_LEVEL_WARN:
      return LogLevel::kWarn;
    case v1::LOG_LEVEL_ERROR:
      return LogLevel::kError;
    default:
      return std::nullopt;
  }
}

void FillBuild(const BuildInfo& build, v1::Build& out) {
  out.set_version(std::string(build.version));
  out.set_revision(std::string(build.revision));
  out.set_cuda(std::string(build.cuda));
}

void FillHealth(const engine::HealthStatus& health, v1::ProcessHealth& out) {
  out.set_live(health.live);
  out.set_started(health.started);
  out.set_ready(health.ready);
  out.set_draining(health.draining);
  out.set_why_not_ready(health.why_not_ready);
}

}  // namespace

grpc::ServerUnaryReactor* StatusService::GetStatus(grpc::CallbackServerContext* context,
                                                   const v1::GetStatusRequest*,
                                                   v1::GetStatusResponse* response) {
  return AdminCall::Start(services_, Method::kGetStatus, *context, [this, response](CallRecord&) {
    FillBuild(ThisBuild(), *response->mutable_build());
    const ProcessFacts::Listeners listeners = services_.process.listeners();
    *response->mutable_start_time() = server::ToProto(services_.process.start_time());
    *response->mutable_uptime() = server::ToProto(services_.process.uptime());
    FillHealth(services_.engine.health().status(), *response->mutable_health());
    FillDevices(*response);
    FillQueue(*response->mutable_queue());
    const engine::CircuitAliases aliases = services_.engine.circuits().aliases();
    for (const engine::CircuitPtr& circuit : services_.engine.circuits().List()) {
      FillCircuit(services_, *circuit, aliases, *response->add_circuits());
    }
    v1::Listeners& out = *response->mutable_listeners();
    out.set_data(listeners.data);
    out.set_admin(listeners.admin);
    out.set_metrics(listeners.metrics);
    out.set_data_tls(listeners.data_tls);
    response->set_log_level(ToProto(services_.log.level()));
    return absl::OkStatus();
  });
}

void StatusService::FillDevices(v1::GetStatusResponse& out) const {
  for (const engine::DeviceStatus& status : services_.engine.devices()) {
    v1::Device& device = *out.add_devices();
    device.set_name(std::string(status.info.device));
    device.set_backend(std::string(status.info.backend));
    device.set_gpu_uuid(std::string(status.info.gpu_uuid));
    device.set_up(status.up);
    device.set_why_down(status.why);
    device.set_standby(status.standby);
    device.set_jobs_running(static_cast<uint32_t>(status.running));
    device.set_jobs_running_max(static_cast<uint32_t>(status.running_max));
    device.set_key_evictions(status.counts.key_evictions);
    if (status.last_proof.has_value())
      *device.mutable_last_proof_time() = server::ToProto(*status.last_proof);
    for (const engine::DeviceMemory& memory : status.memory) {
      v1::DeviceMemory& part = *device.add_memory();
      part.set_kind(std::string(engine::DeviceMemoryKindName(memory.kind)));
      part.set_bytes(memory.bytes);
    }
  }
}

void StatusService::FillQueue(v1::Queue& out) const {
  const engine::EngineStats stats = services_.engine.stats();
  for (const auto priority : {engine::Priority::kHigh, engine::Priority::kNormal, engine::Priority::kLow}) {
    v1::QueuedJobs& waiting = *out.add_waiting();
    waiting.set_priority(server::ToProto(priority));
    waiting.set_jobs(stats.queued[static_cast<size_t>(priority)]);
  }
  out.set_running(stats.running);
  out.set_places_taken(stats.reserved.jobs);
  out.set_places_max(services_.engine.options().jobs_max);
  out.set_witness_bytes(stats.reserved.witness_bytes);
  out.set_witness_bytes_max(services_.engine.options().witness_bytes_max);
  *out.mutable_backlog() = server::ToProto(services_.engine.Backlog());
  if (const auto wait = services_.engine.EstimatedWait(engine::Priority::kNormal)) {
    *out.mutable_estimated_wait() = server::ToProto(*wait);
  }
  out.set_uploads(services_.uploads.usage().count);
  out.set_uploads_max(services_.limits.uploads_max);
  out.set_open_calls(services_.open_calls.count());
}

grpc::ServerUnaryReactor* LogAdminService::SetLogLevel(grpc::CallbackServerContext* context,
                                                       const v1::SetLogLevelRequest* request,
                                                       v1::SetLogLevelResponse* response) {
  return AdminCall::Start(
      services_, Method::kSetLogLevel, *context, [this, request, response](CallRecord& record) {
        const std::optional<LogLevel> level = FromProto(request->level());
        if (!level.has_value())
          return InvalidRequest(absl::StrCat("level: expected debug, info, warn or error, got ",
                                             static_cast<int>(request->level())));
        record.AddArgument("level", v1::LogLevel_Name(request->level()));
        response->set_previous_level(ToProto(services_.log.SetLevel(*level)));
        return absl::OkStatus();
      });
}

}  // namespace proofmill::server
