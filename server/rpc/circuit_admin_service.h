// CircuitAdminService: see proto/proofmill/v1/circuit_admin.proto.
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_CIRCUIT_ADMIN_SERVICE_H_
#define PROOFMILL_SERVER_RPC_CIRCUIT_ADMIN_SERVICE_H_

#include "proofmill/v1/circuit_admin.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class CircuitAdminService final : public v1::CircuitAdminService::CallbackService {
 public:
  // `services` must outlive the service.
  explicit CircuitAdminService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* LoadCircuit(grpc::CallbackServerContext* context,
                                        const v1::LoadCircuitRequest* request,
                                        v1::LoadCircuitResponse* response) override;
  grpc::ServerUnaryReactor* UnloadCircuit(grpc::CallbackServerContext* context,
                                          const v1::UnloadCircuitRequest* request,
                                          v1::UnloadCircuitResponse* response) override;
  grpc::ServerUnaryReactor* SetAlias(grpc::CallbackServerContext* context, const v1::SetAliasRequest* request,
                                     v1::SetAliasResponse* response) override;

 private:
  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CIRCUIT_ADMIN_SERVICE_H_
