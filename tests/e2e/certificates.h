// Certificates for tests: an authority of their own, and what it signs. Valid for an hour from now.
//
// Thread safety: one object is for one thread at a time.

#ifndef PROOFMILL_TESTS_E2E_CERTIFICATES_H_
#define PROOFMILL_TESTS_E2E_CERTIFICATES_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace proofmill::e2e {

class Authority {
 public:
  explicit Authority(const std::string& name);

  std::string CertificatePem() const;

  struct Identity {
    std::string certificate_pem;
    std::string key_pem;
  };
  // A new key with a certificate for `name`, which also serves localhost and 127.0.0.1.
  Identity Issue(const std::string& name) const;

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
  static Key NewKey();
  // Without an issuer the certificate is the authority's own.
  static Certificate Sign(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key);

  Key key_;
  Certificate certificate_;
};

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_CERTIFICATES_H_
