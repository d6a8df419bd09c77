// TLS of the data listener: files are read at start, and when they change (tls_store.h), and checked before
// gRPC sees them.
//
// gRPC itself binds happily with missing or mismatched files and then fails every handshake; so what it would
// not notice is refused here, with a line that says what is wrong.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_TLS_H_
#define PROOFMILL_SERVER_TLS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace proofmill::server {

struct TlsFiles {
  std::string cert;       // PEM, the server's certificate first, then the chain
  std::string key;        // PEM, not encrypted
  std::string client_ca;  // PEM, one or more authorities; empty: clients need no certificate
};

// The contents of the files.
struct TlsMaterial {
  std::string cert_pem;
  std::string key_pem;
  std::string client_ca_pem;
  absl::Time expiry;  // of the server's certificate
};

// Reads and checks the files.
//   NOT_FOUND, PERMISSION_DENIED  a file cannot be read.
//   INVALID_ARGUMENT              a file holds no certificate or key, the key does not belong to the
//   certificate, or
//                                 the certificate is not valid at `now`.
absl::StatusOr<TlsMaterial> LoadTls(const TlsFiles& files, absl::Time now);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_TLS_H_
