// What a call shows of its caller, as gRPC has it.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_RPC_CALLER_H_
#define PROOFMILL_SERVER_RPC_CALLER_H_

#include <grpcpp/server_context.h>

#include <string_view>

#include "server/access.h"

namespace proofmill::server {

inline constexpr char kAuthorizationHeader[] = "authorization";

// The identity that a client's certificate names is the first of its subject alternative names that is a URI,
// or else a DNS name, or else a mail address; in one without any of them its common name. `peer` is what
// call.peer() gave, and must outlive the result.
Credentials CredentialsOf(const grpc::CallbackServerContext& call, std::string_view peer);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CALLER_H_
