#include "server/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"

namespace proofmill::server {
namespace {

constexpr uint64_t kPemBytesMax = uint64_t{1} << 20;

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, Deleter>;
using CertificatePtr = std::unique_ptr<X509, Deleter>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter>;

BioPtr MemoryBio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without a terminal there is nobody to ask for a passphrase, and OpenSSL's default would ask.
int RefusePassphrase(char*, int, int, void*) { return -1; }

absl::StatusOr<std::vector<CertificatePtr>> ParseCertificates(const std::string& path,
                                                              const std::string& pem) {
  const BioPtr bio = MemoryBio(pem);
  std::vector<CertificatePtr> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, RefusePassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // The loop ends with an error: "no more" at the end of the file, anything else inside a broken block.
  const unsigned long error = ERR_peek_last_error();
  const bool at_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (certificates.empty() || !at_end) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected PEM certificates, got ",
                                                   certificates.size(), " and then something else"));
  }
  return certificates;
}

absl::StatusOr<KeyPtr> ParseKey(const std::string& path, const std::string& pem) {
  const BioPtr bio = MemoryBio(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, RefusePassphrase, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected an unencrypted PEM private key"));
  }
  return key;
}

absl::StatusOr<absl::Time> ToTime(const ASN1_TIME* time) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return absl::InvalidArgumentError("a time that is none");
  return absl::FromTM(fields, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> CheckValidity(const std::string& path, const X509* certificate, absl::Time now) {
  PROOFMILL_ASSIGN_OR_RETURN(const absl::Time begin, ToTime(X509_get0_notBefore(certificate)));
  PROOFMILL_ASSIGN_OR_RETURN(const absl::Time end, ToTime(X509_get0_notAfter(certificate)));
  if (now < begin || now >= end) {
    const absl::TimeZone utc = absl::UTCTimeZone();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a certificate that is valid now, got one from ",
                     absl::FormatTime(absl::RFC3339_sec, begin, utc), " to ",
                     absl::FormatTime(absl::RFC3339_sec, end, utc)));
  }
  return end;
}

}  // namespace

absl::StatusOr<TlsMaterial> LoadTls(const TlsFiles& files, absl::Time now) {
  TlsMaterial material;
  PROOFMILL_ASSIGN_OR_RETURN(material.cert_pem, engine::ReadTextFile(files.cert, kPemBytesMax));
  PROOFMILL_ASSIGN_OR_RETURN(material.key_pem, engine::ReadTextFile(files.key, kPemBytesMax));
  PROOFMILL_ASSIGN_OR_RETURN(const auto chain, ParseCertificates(files.cert, material.cert_pem));
  PROOFMILL_ASSIGN_OR_RETURN(const KeyPtr key, ParseKey(files.key, material.key_pem));
  const bool match = X509_check_private_key(chain.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (!match) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.key, ": the private key does not belong to the certificate in ", files.cert));
  }
  PROOFMILL_ASSIGN_OR_RETURN(material.expiry, CheckValidity(files.cert, chain.front().get(), now));
  if (!files.client_ca.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(material.client_ca_pem, engine::ReadTextFile(files.client_ca, kPemBytesMax));
    PROOFMILL_RETURN_IF_ERROR(ParseCertificates(files.client_ca, material.client_ca_pem).status());
  }
  return material;
}

}  // namespace proofmill::server
