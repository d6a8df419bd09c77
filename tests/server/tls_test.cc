#include "server/tls.h"

#include <fstream>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/certificates.h"

namespace proofmill::server {
namespace {

using ::testing::HasSubstr;

class TlsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "tls_test_" + name;
    std::ofstream(path) << text;
    return path;
  }
  absl::Status Load(const std::string& cert, const std::string& key, const std::string& ca = "") {
    return LoadTls({.cert = Write("cert.pem", cert),
                    .key = Write("key.pem", key),
                    .client_ca = ca.empty() ? "" : Write("ca.pem", ca)},
                   absl::FromUnixSeconds(kNow))
        .status();
  }

  static constexpr int64_t kNow = 1'800'000'000;
  const CertificatePair good_ = MakeCertificate(kNow - 100, kNow + 100);
};

TEST_F(TlsTest, AGoodPairIsTakenWithItsExpiry) {
  const auto material =
      LoadTls({.cert = Write("c", good_.cert_pem), .key = Write("k", good_.key_pem), .client_ca = ""},
              absl::FromUnixSeconds(kNow));
  ASSERT_TRUE(material.ok()) << material.status();
  EXPECT_EQ(material->cert_pem, good_.cert_pem);
  EXPECT_EQ(material->expiry, absl::FromUnixSeconds(kNow + 100));
}

TEST_F(TlsTest, AnAuthorityForClientsIsTaken) {
  EXPECT_TRUE(Load(good_.cert_pem, good_.key_pem, good_.cert_pem).ok());
  EXPECT_TRUE(Load(good_.cert_pem, good_.key_pem, good_.cert_pem + good_.cert_pem).ok());
}

TEST_F(TlsTest, MissingFilesAreToldBeforeAnythingIsBound) {
  const absl::Status status =
      LoadTls({.cert = "/nonexistent/cert.pem", .key = "/nonexistent/key.pem", .client_ca = ""},
              absl::FromUnixSeconds(kNow))
          .status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
}

TEST_F(TlsTest, AKeyOfAnotherCertificateIsRefused) {
  const CertificatePair other = MakeCertificate(kNow - 100, kNow + 100);
  const absl::Status status = Load(good_.cert_pem, other.key_pem);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not belong to the certificate"));
}

TEST_F(TlsTest, AnExpiredCertificateAndOneOfTheFutureAreRefused) {
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{kNow - 100, kNow}, {kNow + 1, kNow + 100}}) {
    const CertificatePair pair = MakeCertificate(begin, end);
    EXPECT_THAT(std::string(Load(pair.cert_pem, pair.key_pem).message()), HasSubstr("valid now"));
  }
}

TEST_F(TlsTest, HalfWrittenFilesAreRefused) {
  const std::string half = good_.cert_pem.substr(0, good_.cert_pem.size() / 2);
  EXPECT_TRUE(absl::IsInvalidArgument(Load(half, good_.key_pem)));
  EXPECT_TRUE(absl::IsInvalidArgument(Load(good_.cert_pem + half, good_.key_pem)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(Load(good_.cert_pem, good_.key_pem.substr(0, good_.key_pem.size() / 2))));
  EXPECT_TRUE(absl::IsInvalidArgument(Load("", good_.key_pem)));
  EXPECT_TRUE(absl::IsInvalidArgument(Load(good_.cert_pem, "")));
  EXPECT_TRUE(absl::IsInvalidArgument(Load(good_.cert_pem, good_.key_pem, "not a certificate")));
}

}  // namespace
}  // namespace proofmill::server
