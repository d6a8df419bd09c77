// The part of Client that operators use, and the watch of a circuit that goes with it.

#include <grpcpp/client_context.h>

#include <utility>

#include "clients/cpp/client_state.h"

namespace proofmill::client {
namespace {

bool IsSettled(const v1::Circuit& circuit) {
  switch (circuit.state()) {
    case v1::Circuit::STATE_READY:
      return !circuit.reloading();
    case v1::Circuit::STATE_FAILED:
    case v1::Circuit::STATE_UNLOADED:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<v1::Circuit> Client::WatchCircuit(absl::string_view id, absl::Duration timeout,
                                                 const std::function<void(const v1::Circuit&)>& on_change) {
  v1::WatchCircuitRequest request;
  request.set_id(std::string(id));
  const absl::Time deadline = absl::Now() + timeout;
  Retrier retrier(state_->options.retry, deadline);
  v1::Circuit last;
  const absl::Status status = retrier.Run([&] {
    grpc::ClientContext context;
    PrepareContext(state_->stubs, deadline, context);
    const auto stream = state_->circuits->WatchCircuit(&context, request);
    v1::WatchCircuitResponse response;
    while (stream->Read(&response)) {
      retrier.NoteProgress();
      last = std::move(*response.mutable_circuit());
      if (on_change) on_change(last);
    }
    const absl::Status ended = FromGrpc(stream->Finish(), context);
    if (IsSettled(last)) return absl::OkStatus();
    if (!ended.ok()) return ended;
    return absl::UnavailableError("expected news of the circuit until it settles, got the end of the stream");
  });
  if (!status.ok()) return status;
  return last;
}

absl::StatusOr<v1::Circuit> Client::LoadCircuit(absl::string_view id, absl::Duration timeout) {
  v1::LoadCircuitRequest request;
  request.set_id(std::string(id));
  auto response =
      state_->Call(*state_->circuit_admin, &v1::CircuitAdminService::Stub::LoadCircuit, request, timeout);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_circuit());
}

absl::StatusOr<v1::Circuit> Client::UnloadCircuit(absl::string_view id, absl::Duration timeout) {
  v1::UnloadCircuitRequest request;
  request.set_id(std::string(id));
  auto response =
      state_->Call(*state_->circuit_admin, &v1::CircuitAdminService::Stub::UnloadCircuit, request, timeout);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_circuit());
}

absl::StatusOr<std::string> Client::SetAlias(absl::string_view alias, absl::string_view circuit,
                                             absl::Duration timeout) {
  v1::SetAliasRequest request;
  request.set_alias(std::string(alias));
  request.set_circuit(std::string(circuit));
  auto response =
      state_->Call(*state_->circuit_admin, &v1::CircuitAdminService::Stub::SetAlias, request, timeout);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_previous_circuit());
}

absl::StatusOr<v1::GetStatusResponse> Client::GetStatus(absl::Duration timeout) {
  return state_->Call(*state_->status_service, &v1::StatusService::Stub::GetStatus, v1::GetStatusRequest(),
                      timeout);
}

absl::StatusOr<v1::LogLevel> Client::SetLogLevel(v1::LogLevel level, absl::Duration timeout) {
  v1::SetLogLevelRequest request;
  request.set_level(level);
  auto response = state_->Call(*state_->log_admin, &v1::LogAdminService::Stub::SetLogLevel, request, timeout);
  if (!response.ok()) return response.status();
  return response->previous_level();
}

}  // namespace proofmill::client
