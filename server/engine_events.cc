#include "server/engine_events.h"

#include <string>

#include "nlohmann/json.hpp"

namespace proofmill::server {
namespace {

using Fields = nlohmann::ordered_json;

double Milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

Fields JobFields(const engine::JobInfo& job) {
  Fields fields;
  if (!job.request_id.empty()) fields["request_id"] = job.request_id;
  fields["circuit"] = job.circuit;
  return fields;
}

}  // namespace

void EngineEvents::OnJobDropped(const engine::JobInfo& job, engine::DropReason reason) {
  metrics_.OnJobDropped(job, reason);
  Fields fields = JobFields(job);
  fields["reason"] = engine::DropReasonName(reason);
  log_.Debug("job_dropped", fields);
}

void EngineEvents::OnJobFinished(const engine::JobInfo& job, const engine::DeviceInfo& device,
                                 const absl::Status& status, std::chrono::nanoseconds run_time) {
  metrics_.OnJobFinished(job, device, status, run_time);
  Fields fields = JobFields(job);
  fields["device"] = device.device;
  fields["run_ms"] = Milliseconds(run_time);
  fields["code"] = absl::StatusCodeToString(status.code());
  log_.Debug("job_finished", fields);
}

void EngineEvents::OnBlame(const engine::JobInfo& job, const engine::DeviceInfo& device,
                           engine::BlameVerdict verdict) {
  metrics_.OnBlame(job, device, verdict);
  Fields fields = JobFields(job);
  fields["device"] = device.device;
  fields["verdict"] = engine::BlameVerdictName(verdict);
  log_.Warn("proof_did_not_verify", fields);
}

void EngineEvents::OnDeviceUp(const engine::DeviceInfo& device, bool up, std::string_view why) {
  metrics_.OnDeviceUp(device, up, why);
  Fields fields{{"device", device.device}, {"backend", device.backend}, {"up", up}};
  if (up) {
    log_.Info("device", fields);
  } else {
    fields["why"] = why;
    log_.Error("device", fields);
  }
}

void EngineEvents::OnDeviceError(const engine::DeviceInfo& device, engine::DeviceErrorClass error_class,
                                 const absl::Status& status) {
  metrics_.OnDeviceError(device, error_class, status);
  log_.Error("device_error", {{"device", device.device},
                              {"class", engine::DeviceErrorClassName(error_class)},
                              {"message", std::string(status.message())}});
}

void EngineEvents::OnKeyChange(const engine::DeviceInfo& device, const engine::KeyChangeInfo& change) {
  Fields fields{{"device", device.device},
                {"circuit", change.circuit},
                {"change", engine::KeyChangeName(change.change)},
                {"bytes", change.bytes}};
  if (change.change != engine::KeyChange::kEvicted) {
    fields["load_ms"] = Milliseconds(change.duration);
    fields["plan"] = change.plan;
  }
  log_.Info("device_key", fields);
}

void EngineEvents::OnCanary(const engine::DeviceInfo& device, std::string_view circuit, bool proved) {
  metrics_.OnCanary(device, circuit, proved);
  const Fields fields{{"device", device.device}, {"circuit", circuit}};
  if (proved) {
    log_.Debug("canary_proved", fields);
  } else {
    log_.Error("canary_failed", fields);
  }
}

void EngineEvents::OnCircuit(const engine::Circuit& circuit) {
  metrics_.OnCircuit(circuit);
  Fields fields{{"circuit", circuit.id}, {"state", engine::CircuitStateName(circuit.state)}};
  switch (circuit.state) {
    case engine::CircuitState::kLoading:
      fields["step"] = circuit.load_step;
      log_.Debug("circuit", fields);
      return;
    case engine::CircuitState::kFailed:
      fields["message"] = std::string(circuit.failure.message());
      log_.Error("circuit", fields);
      return;
    case engine::CircuitState::kUnloading:
    case engine::CircuitState::kUnloaded:
      log_.Info("circuit", fields);
      return;
    case engine::CircuitState::kReady:
      break;
  }
  fields["version"] = circuit.version;
  if (circuit.reloading) {
    fields["reloading"] = circuit.load_step;
    log_.Debug("circuit", fields);
    return;
  }
  if (!circuit.reload_failure.ok()) {
    fields["message"] = std::string(circuit.reload_failure.message());
    log_.Error("circuit_not_reloaded", fields);
    return;
  }
  fields["load_ms"] = Milliseconds(circuit.load_duration);
  fields["warm_up_ms"] = Milliseconds(circuit.warm_up_duration);
  if (!circuit.warnings.empty()) fields["warnings"] = circuit.warnings;
  log_.Info("circuit", fields);
  // By themselves too, for those who keep warnings only: that the record of an audit is lost, for instance.
  for (const std::string& warning : circuit.warnings) {
    log_.Warn("circuit_warning", {{"circuit", circuit.id}, {"message", warning}});
  }
}

void EngineEvents::OnCircuitFileIgnored(std::string_view name, std::string_view why) {
  log_.Warn("circuit_file_ignored", {{"name", name}, {"why", why}});
}

}  // namespace proofmill::server
