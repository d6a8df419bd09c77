// CircuitService: see proto/proofmill/v1/circuits.proto. One object for each listener.
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_CIRCUIT_SERVICE_H_
#define PROOFMILL_SERVER_RPC_CIRCUIT_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "engine/dispatch/circuit.h"
#include "proofmill/v1/circuits.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class CircuitService final : public v1::CircuitService::CallbackService {
 public:
  // `services` must outlive the service.
  CircuitService(ServiceContext& services, Listener listener) : services_(services), listener_(listener) {}

  grpc::ServerUnaryReactor* ListCircuits(grpc::CallbackServerContext* context,
                                         const v1::ListCircuitsRequest* request,
                                         v1::ListCircuitsResponse* response) override;
  grpc::ServerUnaryReactor* GetCircuit(grpc::CallbackServerContext* context,
                                       const v1::GetCircuitRequest* request,
                                       v1::GetCircuitResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchCircuitResponse>* WatchCircuit(
      grpc::CallbackServerContext* context, const v1::WatchCircuitRequest* request) override;

 private:
  absl::Status List(const v1::ListCircuitsRequest& request, v1::ListCircuitsResponse& response) const;
  absl::Status Get(const v1::GetCircuitRequest& request, v1::GetCircuitResponse& response) const;

  ServiceContext& services_;
  const Listener listener_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CIRCUIT_SERVICE_H_
