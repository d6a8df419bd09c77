// API keys as operators and clients use them: the real commands against the real service.

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/certificates.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    circuits_.Add("c", Synthetic(6, engine::SynthProfile::kDense, 2));
    Write(File("w.wtns"), circuits_.Wtns("c", 9));
    const Authority authority("test authority");
    const Authority::Identity service = authority.Issue("prover");
    Write(File("ca.pem"), authority.CertificatePem());
    Write(File("server.pem"), service.certificate_pem);
    Write(File("server.key"), service.key_pem);
  }
  std::string File(const std::string& name) const { return folder_.File(name); }

  // A new key of `tenant` in the file NAME.key; its line, which the service's file gets.
  std::string MakeKey(const std::string& tenant, const std::string& name,
                      std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"api-key", tenant, "--key_file=" + File(name + ".key")});
    const Outcome made = Proofmill(flags);
    EXPECT_EQ(made.ending.exit_code, 0) << made.err;
    std::ofstream(File("keys"), std::ios::app) << made.out;
    return made.out;
  }
  Outcome Run(const ServerProcess& server, std::vector<std::string> words, const std::string& key) const {
    words.push_back("--target=" + server.data());
    words.push_back("--ca=" + File("ca.pem"));
    if (!key.empty()) words.push_back("--api_key_file=" + File(key + ".key"));
    return Proofmill(words);
  }
  Outcome Prove(const ServerProcess& server, const std::string& key) const {
    return Run(server,
               {"client", "prove", File("w.wtns"), File("proof.json"), File("public.json"), "--circuit=c"},
               key);
  }

  CircuitFolder circuits_;
  TemporaryFolder folder_;
};

TEST_F(AccessTest, AKeyIsMadeHandedOutUsedAndNeverShown) {
  EXPECT_THAT(MakeKey("rollup", "rollup"), MatchesRegex("[0-9a-f]{12} rollup sha256:[0-9a-f]{64}\n"));
  EXPECT_THAT(MakeKey("ops", "ops", {"--admin", "--valid_for=1h"}),
              MatchesRegex("[0-9a-f]{12} ops sha256:[0-9a-f]{64} admin expires=[0-9T:-]*Z\n"));
  const std::string key = ReadFile(File("rollup.key"));
  EXPECT_THAT(key, MatchesRegex("pmk_[0-9a-f]{12}_[0-9a-f]{64}\n"));
  struct stat info {};
  ASSERT_EQ(stat(File("rollup.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ServerProcess server(circuits_.path(),
                       {"--tls_cert=" + File("server.pem"), "--tls_key=" + File("server.key"),
                        "--api_key_file=" + File("keys"), "--audit_log=" + File("audit")});

  const Outcome without = Prove(server, "");
  EXPECT_EQ(without.ending.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("UNAUTHENTICATED: expected an API key or a client certificate"));
  const Outcome with = Prove(server, "rollup");
  EXPECT_EQ(with.ending.exit_code, 0) << with.err;
  EXPECT_EQ(Run(server, {"client", "circuits"}, "ops").ending.exit_code, 0);
  const Outcome load = Run(server,
                           {"load", "--circuit=c", "--witness=" + File("w.wtns"), "--requests=20",
                            "--concurrency=4", "--slo_failed=0"},
                           "rollup");
  EXPECT_EQ(load.ending.exit_code, 0) << load.out << load.err;
  EXPECT_EQ(Run(server, {"load", "--circuit=c", "--witness=" + File("w.wtns"), "--requests=1"}, "")
                .ending.exit_code,
            2);
  EXPECT_EQ(Proofmill({"client", "circuits", "--target=" + server.admin()}).ending.exit_code, 0);

  server.Stop();
  const std::string secret = key.substr(17, 64);
  for (const std::string& text : {server.process().Out(), server.process().Err(), ReadFile(File("audit")),
                                  without.err, with.err, with.out, load.out, load.err}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(server.process().Err(), HasSubstr(R"("tenant":"rollup","api_key":")" + key.substr(4, 12)));
  EXPECT_THAT(ReadFile(File("audit")), HasSubstr(R"("method":"CircuitService/ListCircuits","code":"OK")"));
}

TEST_F(AccessTest, WithoutAFileTheKeyIsPrintedOnceWithItsLine) {
  const Outcome made = Proofmill({"api-key", "rollup"});
  EXPECT_EQ(made.ending.exit_code, 0);
  EXPECT_THAT(made.out,
              MatchesRegex("#[^\n]*\npmk_[0-9a-f_]*\n#[^\n]*\n[0-9a-f]* rollup sha256:[0-9a-f]*\n"));
  EXPECT_EQ(Proofmill({"api-key", "two words"}).ending.exit_code, 2);
}

TEST_F(AccessTest, BadFilesAreRefusedAtTheStartWithTheirLine) {
  Write(File("keys"), "# nothing\nrollup\n");
  Write(File("tenants"), "rollup weight=none\n");
  const std::vector<std::string> flags = {"serve", "--circuits=" + circuits_.path(),
                                          "--api_key_file=" + File("keys"),
                                          "--tenant_file=" + File("tenants")};
  std::vector<std::string> check = flags;
  check.emplace_back("--check_config");
  for (const auto& words : {flags, check}) {
    const Outcome refused = Proofmill(words);
    EXPECT_EQ(refused.ending.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(File("keys") + ":2: expected KEY_ID TENANT"));
    EXPECT_THAT(refused.err, HasSubstr(File("tenants") + ":1: weight: expected"));
  }
}

TEST_F(AccessTest, KeysAreNotTakenInClearTextFromOtherMachinesUnlessThatIsAllowed) {
  MakeKey("rollup", "rollup");
  const Outcome refused =
      Proofmill({"serve", "--circuits=" + circuits_.path(), "--api_key_file=" + File("keys"),
                 "--listen=0.0.0.0:0", "--check_config"});
  EXPECT_EQ(refused.ending.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("listen: without TLS only loopback addresses are bound"));

  ServerProcess server(circuits_.path(),
                       {"--listen=0.0.0.0:0", "--allow_plaintext", "--api_key_file=" + File("keys")});
  EXPECT_THAT(server.process().Err(), HasSubstr("plaintext_api_keys"));
  server.Stop();
}

TEST_F(AccessTest, TheAdminListenerSpeaksTlsIfItIsTold) {
  ServerProcess server(circuits_.path(), {"--tls_cert=" + File("server.pem"),
                                          "--tls_key=" + File("server.key"), "--admin_tls"});
  EXPECT_EQ(Proofmill({"client", "health", "--target=" + server.admin(), "--ca=" + File("ca.pem")})
                .ending.exit_code,
            0);
  EXPECT_NE(Proofmill({"client", "health", "--target=" + server.admin(), "--deadline=3s"}).ending.exit_code,
            0);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
