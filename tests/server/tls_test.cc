#include "server/tls.h"

#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/tls_store.h"
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

// A store over two files, and what it has told.
class TlsStoreTest : public ::testing::Test {
 protected:
  TlsStoreTest() {
    Write(first_.cert_pem, first_.key_pem);
    store_ = std::make_unique<TlsStore>(files_, *LoadTls(files_, absl::Now()),
                                        [this](const absl::Status& status, const TlsMaterial& in_use) {
                                          told_.push_back(status);
                                          in_use_ = in_use.cert_pem;
                                        });
  }
  void Write(const std::string& cert, const std::string& key) {
    std::ofstream(files_.cert) << cert;
    std::ofstream(files_.key) << key;
  }
  void Look() { store_->EndIdle(engine::Clock::time_point{}); }

  const int64_t now_ = absl::ToUnixSeconds(absl::Now());
  const CertificatePair first_ = MakeCertificate(now_ - 100, now_ + 1000);
  const CertificatePair second_ = MakeCertificate(now_ - 100, now_ + 2000);
  const TlsFiles files_{.cert = ::testing::TempDir() + "tls_store_cert.pem",
                        .key = ::testing::TempDir() + "tls_store_key.pem",
                        .client_ca = ""};
  std::vector<absl::Status> told_;
  std::string in_use_;
  std::unique_ptr<TlsStore> store_;
};

TEST_F(TlsStoreTest, AGoodPairIsTakenOverOnceAndFilesThatStayAreNoNews) {
  Look();
  EXPECT_TRUE(told_.empty());
  Write(second_.cert_pem, second_.key_pem);
  Look();
  Look();

  ASSERT_EQ(told_.size(), 1u);
  EXPECT_TRUE(told_[0].ok());
  EXPECT_EQ(in_use_, second_.cert_pem);
  EXPECT_EQ(store_->current().material->cert_pem, second_.cert_pem);
  EXPECT_EQ(store_->current().generation, 2u);
}

TEST_F(TlsStoreTest, WhatIsNotGoodNeverReplacesWhatIsAndIsToldOnce) {
  const CertificatePair expired = MakeCertificate(now_ - 200, now_ - 100);
  for (const auto& [cert, key] :
       {std::pair(second_.cert_pem, first_.key_pem),
        std::pair(second_.cert_pem.substr(0, 200), second_.key_pem),
        std::pair(expired.cert_pem, expired.key_pem), std::pair(std::string(), std::string())}) {
    told_.clear();
    Write(cert, key);
    Look();
    Look();
    ASSERT_EQ(told_.size(), 1u);
    EXPECT_FALSE(told_[0].ok());
    EXPECT_EQ(in_use_, first_.cert_pem);
    EXPECT_EQ(store_->current().generation, 1u);
  }
  unlink(files_.key.c_str());
  Look();
  EXPECT_EQ(store_->current().generation, 1u) << "a file that is missing is no reason either";
  Write(second_.cert_pem, second_.key_pem);
  Look();
  EXPECT_EQ(store_->current().generation, 2u);
}

}  // namespace
}  // namespace proofmill::server
