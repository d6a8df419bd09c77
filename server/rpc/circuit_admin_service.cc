#include "server/rpc/circuit_admin_service.h"

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "server/rpc/admin_call.h"
#include "server/rpc/circuit_message.h"
#include "server/rpc/convert.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

absl::Status CheckAlias(std::string_view alias) {
  if (engine::IsCircuitId(alias)) return absl::OkStatus();
  return InvalidRequest(
      absl::StrCat("alias: expected 1 to 128 characters of [A-Za-z0-9._-], the first not a dot", Got(alias)));
}

}  // namespace

grpc::ServerUnaryReactor* CircuitAdminService::LoadCircuit(grpc::CallbackServerContext* context,
                                                           const v1::LoadCircuitRequest* request,
                                                           v1::LoadCircuitResponse* response) {
  return AdminCall::Start(
      services_, Method::kLoadCircuit, *context,
      [this, request, response](CallRecord& record) -> absl::Status {
        PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(request->id()));
        record.SetCircuit(request->id());
        auto& circuits = services_.engine.circuits();
        PROOFMILL_ASSIGN_OR_RETURN(const engine::CircuitPtr circuit, circuits.Load(request->id()));
        FillCircuit(services_, *circuit, circuits.aliases(), *response->mutable_circuit());
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* CircuitAdminService::UnloadCircuit(grpc::CallbackServerContext* context,
                                                             const v1::UnloadCircuitRequest* request,
                                                             v1::UnloadCircuitResponse* response) {
  return AdminCall::Start(
      services_, Method::kUnloadCircuit, *context,
      [this, request, response](CallRecord& record) -> absl::Status {
        PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(request->id()));
        record.SetCircuit(request->id());
        auto& circuits = services_.engine.circuits();
        PROOFMILL_ASSIGN_OR_RETURN(const engine::CircuitPtr circuit, circuits.Unload(request->id()));
        FillCircuit(services_, *circuit, circuits.aliases(), *response->mutable_circuit());
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* CircuitAdminService::SetAlias(grpc::CallbackServerContext* context,
                                                        const v1::SetAliasRequest* request,
                                                        v1::SetAliasResponse* response) {
  return AdminCall::Start(services_, Method::kSetAlias, *context,
                          [this, request, response](CallRecord& record) -> absl::Status {
                            PROOFMILL_RETURN_IF_ERROR(CheckAlias(request->alias()));
                            record.AddArgument("alias", request->alias());
                            if (!request->circuit().empty()) {
                              PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(request->circuit()));
                              record.SetCircuit(request->circuit());
                            }
                            PROOFMILL_ASSIGN_OR_RETURN(
                                *response->mutable_previous_circuit(),
                                services_.engine.circuits().SetAlias(request->alias(), request->circuit()));
                            return absl::OkStatus();
                          });
}

}  // namespace proofmill::server
