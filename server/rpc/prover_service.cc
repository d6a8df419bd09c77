#include "server/rpc/prover_service.h"

#include "server/rpc/prove_batch_call.h"
#include "server/rpc/prove_call.h"
#include "server/rpc/prove_stream_call.h"
#include "server/rpc/verify_call.h"

namespace proofmill::server {

grpc::ServerUnaryReactor* ProverService::Prove(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return StartProve(services_, *context, *request, *response);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ProverService::ProveStream(
    grpc::CallbackServerContext* context) {
  return ProveStreamCall::Start(services_, *context);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ProverService::ProveBatch(
    grpc::CallbackServerContext* context) {
  return ProveBatchCall::Start(services_, *context);
}

grpc::ServerUnaryReactor* ProverService::Verify(grpc::CallbackServerContext* context,
                                                const v1::VerifyRequest* request,
                                                v1::VerifyResponse* response) {
  return StartVerify(services_, *context, *request, *response);
}

}  // namespace proofmill::server
