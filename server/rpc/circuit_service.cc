#include "server/rpc/circuit_service.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "server/rpc/call_record.h"
#include "server/rpc/circuit_message.h"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/watch_circuit_call.h"

namespace proofmill::server {
namespace {

constexpr int kPageSizeDefault = 100;
constexpr int kPageSizeMax = 1000;

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

grpc::ServerWriteReactor<v1::WatchCircuitResponse>* CircuitService::WatchCircuit(
    grpc::CallbackServerContext* context, const v1::WatchCircuitRequest* request) {
  return WatchCircuitCall::Start(services_, *context, request->id(), listener_);
}

// A page token is the id of the last circuit of the page before, in base64 so that nobody builds one by hand.
absl::Status CircuitService::List(const v1::ListCircuitsRequest& request,
                                  v1::ListCircuitsResponse& response) const {
  if (request.page_size() < 0)
    return InvalidRequest(absl::StrCat("page_size: expected 0 or more, got ", request.page_size()));
  std::string last_id;
  if (!absl::WebSafeBase64Unescape(request.page_token(), &last_id)) {
    return InvalidRequest(absl::StrCat("page_token: expected what the page before gave, or nothing",
                                       Got(request.page_token())));
  }
  const int page_size =
      request.page_size() == 0 ? kPageSizeDefault : std::min(request.page_size(), kPageSizeMax);
  const engine::CircuitAliases aliases = services_.engine.circuits().aliases();
  for (const engine::CircuitPtr& circuit : services_.engine.circuits().List()) {
    if (!last_id.empty() && circuit->id <= last_id) continue;
    if (response.circuits_size() == page_size) {
      response.set_next_page_token(absl::WebSafeBase64Escape(response.circuits(page_size - 1).id()));
      break;
    }
    FillCircuit(services_, *circuit, aliases, *response.add_circuits());
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
  FillCircuit(services_, *circuit, services_.engine.circuits().aliases(), *response.mutable_circuit());
  if (circuit->state == engine::CircuitState::kReady) {
    ApiOf(circuit->system).FillVerificationKey(*circuit, *response.mutable_circuit());
  }
  return absl::OkStatus();
}

}  // namespace proofmill::server
