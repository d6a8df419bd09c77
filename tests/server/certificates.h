// Certificates made on the spot, for tests of TLS.

#ifndef PROOFMILL_TESTS_SERVER_CERTIFICATES_H_
#define PROOFMILL_TESTS_SERVER_CERTIFICATES_H_

#include <cstdint>
#include <string>

namespace proofmill::server {

struct CertificatePair {
  std::string cert_pem;
  std::string key_pem;
};

// A self-signed certificate for 127.0.0.1 that is its own authority, valid from `begin` to `end` in Unix
// seconds.
CertificatePair MakeCertificate(int64_t begin, int64_t end);

}  // namespace proofmill::server

#endif  // PROOFMILL_TESTS_SERVER_CERTIFICATES_H_
