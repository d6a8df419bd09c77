#include "server/rpc/watch_circuit_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "server/rpc/circuit_message.h"
#include "server/rpc/convert.h"

namespace proofmill::server {
namespace {

bool IsSettled(const engine::Circuit& circuit) {
  switch (circuit.state) {
    case engine::CircuitState::kReady:
      return !circuit.reloading;
    case engine::CircuitState::kFailed:
    case engine::CircuitState::kUnloaded:
      return true;
    case engine::CircuitState::kLoading:
    case engine::CircuitState::kUnloading:
      return false;
  }
  return true;
}

// What is left of a circuit that has gone.
engine::CircuitPtr Unloaded(const std::string& id) {
  engine::Circuit circuit;
  circuit.id = id;
  circuit.state = engine::CircuitState::kUnloaded;
  return std::make_shared<const engine::Circuit>(std::move(circuit));
}

}  // namespace

WatchCircuitCall* WatchCircuitCall::Start(ServiceContext& services, grpc::CallbackServerContext& context,
                                          const std::string& name, Listener listener) {
  const auto call = std::make_shared<WatchCircuitCall>(services, context, listener);
  call->self_ = call;
  const absl::Status access = call->record_.access();
  const absl::Status status = access.ok() ? call->Open(name) : access;
  if (status.ok()) {
    services.engine.circuits().Watch(call);
    services.reaper.Add(call);
    call->Pump();
  } else {
    call->End(status);
  }
  return call.get();
}

WatchCircuitCall::WatchCircuitCall(ServiceContext& services, grpc::CallbackServerContext& context,
                                   Listener listener)
    : services_(services), context_(context), record_(services, Method::kWatchCircuit, context, listener) {}

absl::Status WatchCircuitCall::Open(const std::string& name) {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(name));
  record_.SetCircuit(name);
  const engine::CircuitPtr circuit = services_.engine.circuits().Find(name);
  if (circuit == nullptr) {
    return engine::WithReason(absl::NotFoundError(absl::StrCat("there is no circuit ", name)),
                              engine::ErrorReason::kCircuitUnknown);
  }
  id_ = circuit->id;
  return absl::OkStatus();
}

void WatchCircuitCall::OnWriteDone(bool ok) {
  services_.sends.End(context_);
  {
    engine::MutexLock lock(mu_);
    sending_ = false;
    if (!ok && end_.ok()) end_ = absl::CancelledError("the client went away");
  }
  Pump();
}

void WatchCircuitCall::OnCancel() { End(absl::CancelledError("the client went away")); }

void WatchCircuitCall::OnDone() {
  services_.sends.End(context_);
  const auto self = std::move(self_);  // the last reference may be this one
}

void WatchCircuitCall::EndIdle(engine::Clock::time_point) {
  if (!services_.draining) return;
  End(engine::WithReason(absl::UnavailableError("the service is shutting down"),
                         engine::ErrorReason::kDraining));
}

void WatchCircuitCall::End(const absl::Status& status) {
  {
    engine::MutexLock lock(mu_);
    if (end_.ok()) end_ = status;
  }
  Pump();
}

void WatchCircuitCall::Pump() {
  // After Finish() OnDone() may come at once, on another thread.
  const auto self = shared_from_this();
  engine::CircuitPtr circuit;
  absl::Status end;
  {
    engine::MutexLock lock(mu_);
    if (sending_ || finished_) return;
    end = end_;
    if (end.ok()) {
      circuit = services_.engine.circuits().Find(id_);
      if (circuit == nullptr) circuit = Unloaded(id_);
      if (circuit->state != engine::CircuitState::kUnloaded && circuit->revision == told_) return;
      told_ = circuit->revision;
    }
    sending_ = true;
    finished_ = !end.ok() || IsSettled(*circuit);
  }
  services_.sends.Begin(context_);
  if (!end.ok()) {
    Finish(record_.End(end));
    return;
  }
  response_.Clear();
  FillCircuit(services_, *circuit, services_.engine.circuits().aliases(), *response_.mutable_circuit());
  if (IsSettled(*circuit)) {
    StartWriteAndFinish(&response_, grpc::WriteOptions(), record_.End(absl::OkStatus()));
  } else {
    StartWrite(&response_);
  }
}

}  // namespace proofmill::server
