// ProverService: see proto/proofmill/v1/prover.proto.
//
// Each method hands its call to an object of its own (prove_call.h, prove_stream_call.h, prove_batch_call.h,
// verify_call.h). The
// three whose requests hold a witness are raw: they get and give the bytes of their messages
// (secret_message.h).
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_PROVER_SERVICE_H_
#define PROOFMILL_SERVER_RPC_PROVER_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include "proofmill/v1/prover.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class ProverService final
    : public v1::ProverService::WithRawCallbackMethod_Prove<
          v1::ProverService::WithRawCallbackMethod_ProveStream<
              v1::ProverService::WithRawCallbackMethod_ProveBatch<
                  v1::ProverService::WithCallbackMethod_Verify<v1::ProverService::Service>>>> {
 public:
  // `services` must outlive the service.
  explicit ProverService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ProveStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ProveBatch(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Verify(grpc::CallbackServerContext* context, const v1::VerifyRequest* request,
                                   v1::VerifyResponse* response) override;

 private:
  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_PROVER_SERVICE_H_
