#include "tests/e2e/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "gtest/gtest.h"

namespace proofmill::e2e {
namespace {

constexpr long kValiditySeconds = 3600;

template <typename Write>
std::string Pem(Write&& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  EXPECT_EQ(write(bio.get()), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

void AddExtension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Authority::Authority(const std::string& name)
    : key_(NewKey()), certificate_(Sign(name, key_.get(), nullptr, key_.get())) {}

Authority::Key Authority::NewKey() { return Key(EVP_EC_gen("P-256"), &EVP_PKEY_free); }

Authority::Certificate Authority::Sign(const std::string& name, EVP_PKEY* key, X509* issuer,
                                       EVP_PKEY* issuer_key) {
  Certificate certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  uint32_t serial = 0;
  EXPECT_EQ(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)), 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kValiditySeconds);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), issuer == nullptr ? subject : X509_get_subject_name(issuer));
  AddExtension(certificate.get(), NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (issuer != nullptr) {
    const std::string names = "DNS:" + name + ",DNS:localhost,IP:127.0.0.1";
    AddExtension(certificate.get(), NID_subject_alt_name, names.c_str());
  }
  EXPECT_GT(X509_sign(certificate.get(), issuer_key, EVP_sha256()), 0);
  return certificate;
}

std::string Authority::CertificatePem() const {
  return Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate_.get()); });
}

Authority::Identity Authority::Issue(const std::string& name) const {
  const Key key = NewKey();
  const Certificate certificate = Sign(name, key.get(), certificate_.get(), key_.get());
  return {Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); }), Pem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace proofmill::e2e
