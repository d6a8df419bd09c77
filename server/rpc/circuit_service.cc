#include "server/rpc/circuit_service.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "server/rpc/call_record.h"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

constexpr int kPageSizeDefault = 100;
constexpr int kPageSizeMax = 1000;

v1::Circuit::State ToProto(engine::CircuitState state) {
  switch (state) {
    case engine::CircuitState::kLoading:
      return v1::Circuit::STATE_LOADING;
    case engine::CircuitState::kReady:
      return v1::Circuit::STATE_READY;
    case engine::CircuitState::kFailed:
      return v1::Circuit::STATE_FAILED;
  }
  return v1::Circuit::STATE_UNSPECIFIED;
}

}  // namespace

grpc::ServerUnaryReactor* CircuitService::ListCircuits(grpc::CallbackServerContext* context,
                                                       const v1::ListCircuitsRequest* request,
                                                       v1::ListCircuitsResponse* response) {
  CallRecord record(services_, Method::kListCircuits, *context, listener_);
  absl::Status status = record.access();
  if (status.ok()) status = List(*request, *response);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(record.End(status));
  return reactor;
}

grpc::ServerUnaryReactor* CircuitService::GetCircuit(grpc::CallbackServerContext* context,
                                                     const v1::GetCircuitRequest* request,
                                                     v1::GetCircuitResponse* response) {
  CallRecord record(services_, Method::kGetCircuit, *context, listener_);
  if (engine::IsCircuitId(request->id())) record.SetCircuit(request->id());
  absl::Status status = record.access();
  if (status.ok()) status = Get(*request, *response);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(record.End(status));
  return reactor;
}

// A page token is the id of the last circuit of the page before, in base64 so that nobody builds one by hand.
absl::Status CircuitService::List(const v1::ListCircuitsRequest& request,
                                  v1::ListCircuitsResponse& response) const {
  if (request.page_size() < 0) return InvalidRequest("page_size: expected 0 or more");
  std::string last_id;
  if (!absl::WebSafeBase64Unescape(request.page_token(), &last_id)) {
    return InvalidRequest("page_token: expected what the page before gave, or nothing");
  }
  const int page_size =
      request.page_size() == 0 ? kPageSizeDefault : std::min(request.page_size(), kPageSizeMax);
  for (const engine::CircuitPtr& circuit : services_.engine.circuits().List()) {
    if (!last_id.empty() && circuit->id <= last_id) continue;
    if (response.circuits_size() == page_size) {
      response.set_next_page_token(absl::WebSafeBase64Escape(response.circuits(page_size - 1).id()));
      break;
    }
    Fill(*circuit, *response.add_circuits());
  }
  return absl::OkStatus();
}

absl::Status CircuitService::Get(const v1::GetCircuitRequest& request,
                                 v1::GetCircuitResponse& response) const {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(request.id()));
  const engine::CircuitPtr circuit = services_.engine.circuits().Find(request.id());
  if (circuit == nullptr) {
    return engine::WithReason(absl::NotFoundError(absl::StrCat("there is no circuit ", request.id())),
                              engine::ErrorReason::kCircuitUnknown);
  }
  Fill(*circuit, *response.mutable_circuit());
  if (circuit->state == engine::CircuitState::kReady) {
    ApiOf(circuit->system).FillVerificationKey(*circuit, *response.mutable_circuit());
  }
  return absl::OkStatus();
}

void CircuitService::Fill(const engine::Circuit& circuit, v1::Circuit& out) const {
  out.set_id(circuit.id);
  const ProofApi& api = ApiOf(circuit.system);
  out.set_proof_system(api.system());
  out.set_state(ToProto(circuit.state));
  if (circuit.state == engine::CircuitState::kFailed) out.set_failure(std::string(circuit.failure.message()));
  for (const std::string& warning : circuit.warnings) out.add_warnings(warning);
  *out.mutable_load_duration() = server::ToProto(circuit.load_duration);
  if (const auto wait = services_.engine.EstimatedWait(engine::Priority::kNormal)) {
    *out.mutable_estimated_wait() = server::ToProto(*wait);
  }
  out.mutable_limits()->set_message_bytes_max(services_.limits.message_bytes_max);
  *out.mutable_limits()->mutable_deadline_max() = server::ToProto(services_.limits.deadline_max);
  if (circuit.state != engine::CircuitState::kReady) return;
  out.set_version(circuit.version);
  api.FillCircuit(circuit, out);
  const InputSizes sizes = api.Sizes(circuit);
  out.mutable_limits()->set_witness_bytes(sizes.usual);
  out.mutable_limits()->set_witness_bytes_max(sizes.most);
}

}  // namespace proofmill::server
