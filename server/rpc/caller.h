// Who makes a call.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_RPC_CALLER_H_
#define PROOFMILL_SERVER_RPC_CALLER_H_

#include <grpcpp/server_context.h>

#include <string>

namespace proofmill::server {

// The tenant: the identity that the client's certificate names: the first of its subject alternative names
// that is a URI, or else a DNS name, or else a mail address; in one without any of them its common name.
// Empty where clients show no certificate: they are one tenant then. Never taken from a field of the request.
std::string TenantOf(const grpc::CallbackServerContext& call);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CALLER_H_
