// The unary call Prove.

#ifndef PROOFMILL_SERVER_RPC_PROVE_CALL_H_
#define PROOFMILL_SERVER_RPC_PROVE_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/rpc/service_context.h"

namespace proofmill::server {

// Takes the call and answers it in time; request and response are the bytes of ProveRequest and
// ProveResponse. The request is wiped before this returns.
grpc::ServerUnaryReactor* StartProve(ServiceContext& services, grpc::CallbackServerContext& context,
                                     const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_PROVE_CALL_H_
