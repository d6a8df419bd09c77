// The unary call Verify.

#ifndef PROOFMILL_SERVER_RPC_VERIFY_CALL_H_
#define PROOFMILL_SERVER_RPC_VERIFY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "proofmill/v1/prover.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

// Checks the form of the request at once and the proof on a thread of the verify pool, since pairings take
// milliseconds and gRPC's own threads must stay free.
grpc::ServerUnaryReactor* StartVerify(ServiceContext& services, grpc::CallbackServerContext& context,
                                      const v1::VerifyRequest& request, v1::VerifyResponse& response);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_VERIFY_CALL_H_
