// ProverService: see proto/proofmill/v1/prover.proto.
//
// Each method hands its call to an object of its own (prove_call.h, prove_stream_call.h, verify_call.h).
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_PROVER_SERVICE_H_
#define PROOFMILL_SERVER_RPC_PROVER_SERVICE_H_

#include "proofmill/v1/prover.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class ProverService final : public v1::ProverService::CallbackService {
 public:
  // `services` must outlive the service.
  explicit ProverService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context, const v1::ProveRequest* request,
                                  v1::ProveResponse* response) override;
  grpc::ServerBidiReactor<v1::ProveStreamRequest, v1::ProveStreamResponse>* ProveStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Verify(grpc::CallbackServerContext* context, const v1::VerifyRequest* request,
                                   v1::VerifyResponse* response) override;

 private:
  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_PROVER_SERVICE_H_
