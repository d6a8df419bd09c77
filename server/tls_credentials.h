// Server credentials whose certificate changes while the server runs.
//
// gRPC asks for each new connection whether there is a new certificate, and gets what the store has then.
// (Its own watcher of files drops a good pair when it finds a bad one.)
//
// Thread safety: as grpc::ServerCredentials. Lifetime: must outlive the server that uses them, which the
// builder does not see to.

#ifndef PROOFMILL_SERVER_TLS_CREDENTIALS_H_
#define PROOFMILL_SERVER_TLS_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/tls_store.h"

namespace proofmill::server {

// With `require_client_certificate` clients must show one of the store's authorities; without, none is asked
// for.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(std::shared_ptr<const TlsStore> store,
                                                            bool require_client_certificate);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_TLS_CREDENTIALS_H_
