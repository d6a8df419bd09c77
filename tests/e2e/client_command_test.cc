// `proofmill client` against the real service, with and without TLS.

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "engine/formats/snarkjs_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proofmill/v1/circuits.grpc.pb.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "tests/e2e/certificates.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

class ClientCommandTest : public ::testing::Test {
 protected:
  ClientCommandTest() {
    engine::SynthOptions options;
    options.log2_domain = 6;
    options.n_public = 2;
    circuits_.Add("c", options);
    options.seed = 5;
    circuits_.Add("other", options);
    Write(File("w.wtns"), circuits_.Wtns("c", 9));
    Write(File("vk.json"), engine::VerificationKeyToJson(circuits_.vkey("c")));
    Write(File("other_vk.json"), engine::VerificationKeyToJson(circuits_.vkey("other")));
  }

  std::string File(const std::string& name) const { return folder_.File(name); }

  // Runs `proofmill client WORDS` against `server`.
  Outcome Client(const ServerProcess& server, std::vector<std::string> words) {
    words.insert(words.begin(), "client");
    words.push_back("--target=" + server.data());
    return Proofmill(words);
  }
  Outcome Prove(const ServerProcess& server, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"prove", File("w.wtns"), File("proof.json"), File("public.json")});
    return Client(server, flags);
  }

  CircuitFolder circuits_;
  TemporaryFolder folder_;
};

TEST_F(ClientCommandTest, AProofIsMadeOverEveryWayAndVerifies) {
  ServerProcess server(circuits_.path());

  for (const std::string way : {"--unary", "--stream", "--upload"}) {
    const Outcome run = Prove(server, {"--circuit=c", way, "--verify_with=" + File("vk.json")});

    EXPECT_EQ(run.ending.exit_code, 0) << run.err;
    const Outcome verify = Proofmill({"verify", File("vk.json"), File("public.json"), File("proof.json")});
    EXPECT_EQ(verify.out, "OK\n") << verify.err;
  }
  server.Stop();
}

TEST_F(ClientCommandTest, AProofThatDoesNotVerifyUnderTheGivenKeyIsNotWritten) {
  ServerProcess server(circuits_.path());

  const Outcome run = Prove(server, {"--circuit=c", "--verify_with=" + File("other_vk.json")});

  EXPECT_EQ(run.ending.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("does not verify"));
  EXPECT_FALSE(FileExists(File("proof.json")));
  EXPECT_FALSE(FileExists(File("public.json")));
  server.Stop();
}

TEST_F(ClientCommandTest, RefusalsNameTheReasonInOneLine) {
  ServerProcess server(circuits_.path());
  Write(File("w.wtns"), circuits_.Wtns("c", 9).substr(0, 500));

  const Outcome malformed = Prove(server, {"--circuit=c"});
  const Outcome unknown = Prove(server, {"--circuit=nobody"});

  EXPECT_EQ(malformed.ending.exit_code, 2);
  EXPECT_THAT(malformed.err, ::testing::MatchesRegex("proofmill client prove: WITNESS_[A-Z]+: [^\n]+\n"));
  EXPECT_EQ(unknown.ending.exit_code, 2);
  EXPECT_THAT(unknown.err, ::testing::MatchesRegex("proofmill client prove: CIRCUIT_UNKNOWN: [^\n]+\n"));
  EXPECT_FALSE(FileExists(File("proof.json")));
  server.Stop();
}

TEST_F(ClientCommandTest, TheOtherListenerIsNamedWhereOneLacksTheCall) {
  ServerProcess server(circuits_.path());

  const Outcome proof = Proofmill({"client", "prove", File("w.wtns"), File("proof.json"), File("public.json"),
                                   "--circuit=c", "--target=" + server.admin()});
  const Outcome load = Client(server, {"circuits", "load", "c"});

  EXPECT_EQ(proof.ending.exit_code, 2);
  EXPECT_THAT(proof.err, HasSubstr("proofs are made at --listen"));
  EXPECT_EQ(load.ending.exit_code, 2);
  EXPECT_THAT(load.err, HasSubstr("administration is at its --admin_listen"));
  server.Stop();
}

// A listener that takes connections and says nothing.
class SilentListener {
 public:
  SilentListener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_, any, size), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    EXPECT_EQ(getsockname(fd_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentListener() { close(fd_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  const int fd_;
  int port_ = 0;
};

TEST_F(ClientCommandTest, ADeadlineThatPassesSaysHowLongItWasAndWhatWasGoingOn) {
  const SilentListener nobody;
  for (const std::string way : {"--unary", "--stream", "--upload", "--job"}) {
    const Outcome run = Proofmill({"client", "prove", File("w.wtns"), File("proof.json"), File("public.json"),
                                   "--circuit=c", way, "--deadline=300ms", "--target=" + nobody.address()});

    EXPECT_EQ(run.ending.exit_code, 3) << way;
    EXPECT_THAT(run.err, ::testing::MatchesRegex(
                             "proofmill client prove: no proof came within 300ms, which a longer --deadline "
                             "changes; at the end: (connecting|waiting)[^\n]*\n"))
        << way;
  }
}

// A service that gives something like a proof at once, and never tells a key.
class KeylessService final : public v1::ProverService::Service,
                             public v1::JobService::Service,
                             public v1::CircuitService::Service {
 public:
  KeylessService() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(static_cast<v1::ProverService::Service*>(this));
    builder.RegisterService(static_cast<v1::JobService::Service*>(this));
    builder.RegisterService(static_cast<v1::CircuitService::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  ~KeylessService() override { server_->Shutdown(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int keys_asked_for() const { return keys_asked_for_; }

 private:
  grpc::Status Prove(grpc::ServerContext*, const v1::ProveRequest*, v1::ProveResponse* response) override {
    response->mutable_result()->mutable_groth16();
    return grpc::Status::OK;
  }
  grpc::Status WatchJob(grpc::ServerContext*, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::WatchJobResponse>* writer) override {
    v1::WatchJobResponse response;
    response.mutable_job()->set_name(request->name());
    response.mutable_job()->set_state(v1::Job::STATE_SUCCEEDED);
    response.mutable_job()->mutable_result()->mutable_groth16();
    writer->Write(response);
    return grpc::Status::OK;
  }
  grpc::Status GetCircuit(grpc::ServerContext* context, const v1::GetCircuitRequest*,
                          v1::GetCircuitResponse*) override {
    ++keys_asked_for_;
    while (!context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return grpc::Status::CANCELLED;
  }

  std::atomic<int> keys_asked_for_{0};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// It bounds the whole command: nothing is asked for again, and waited for as long again, when it has passed.
TEST_F(ClientCommandTest, TheDeadlineBoundsTheProofAndItsKeyTogether) {
  const KeylessService service;

  const Outcome run = Proofmill({"client", "prove", File("w.wtns"), File("proof.json"), File("public.json"),
                                 "--circuit=c", "--unary", "--deadline=1s", "--target=" + service.address()});

  EXPECT_EQ(run.ending.exit_code, 3);
  EXPECT_EQ(
      run.err,
      "proofmill client prove: a proof came, but no key to verify it with within 1s; a longer --deadline "
      "or --verify_with helps\n");
  EXPECT_EQ(service.keys_asked_for(), 1);
  EXPECT_FALSE(FileExists(File("proof.json")));
}

TEST_F(ClientCommandTest, TheDeadlineOfAWatchIsForItsKeyToo) {
  const KeylessService service;

  const Outcome run = Proofmill({"client", "watch", "jobs/0123456789abcdef/0123456789abcdef0123456789abcdef",
                                 "--proof=" + File("proof.json"), "--public=" + File("public.json"),
                                 "--deadline=1s", "--target=" + service.address()});

  EXPECT_EQ(run.ending.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("no key to verify it with within 1s"));
}

TEST_F(ClientCommandTest, VerifySaysOkOrInvalid) {
  ServerProcess server(circuits_.path());
  ASSERT_EQ(Prove(server, {"--circuit=c"}).ending.exit_code, 0);

  const Outcome good = Client(server, {"verify", "--circuit=c", File("public.json"), File("proof.json")});
  const Outcome bad = Client(server, {"verify", "--circuit=other", File("public.json"), File("proof.json")});

  EXPECT_EQ(std::make_pair(good.ending.exit_code, good.out), std::make_pair(0, std::string("OK\n")))
      << good.err;
  EXPECT_EQ(std::make_pair(bad.ending.exit_code, bad.out), std::make_pair(1, std::string("INVALID\n")))
      << bad.err;
  server.Stop();
}

TEST_F(ClientCommandTest, CircuitsAndStatusAreTablesAndJson) {
  ServerProcess server(circuits_.path());

  const Outcome table = Client(server, {"circuits"});
  const auto list = nlohmann::json::parse(Client(server, {"circuits", "--json"}).out, nullptr, false);
  const Outcome status = Client(server, {"status"});
  const auto status_json = nlohmann::json::parse(Client(server, {"status", "--json"}).out, nullptr, false);

  EXPECT_THAT(table.out, HasSubstr("circuit  state"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["id"], "c");
  EXPECT_EQ(list[0]["state"], "ready");
  EXPECT_EQ(list[0]["public_signals"], 2);
  EXPECT_EQ(list[0]["insecure_test_setup"], true);
  EXPECT_EQ(status.ending.exit_code, 0);
  EXPECT_THAT(status.out, HasSubstr("ready: serving\n"));
  EXPECT_THAT(status.out, HasSubstr("the admin listener"));
  EXPECT_EQ(status_json["ready"], true);
  EXPECT_EQ(status_json["circuits"].size(), 2u);
  server.Stop();
}

TEST_F(ClientCommandTest, HealthIsAnExitCodeOnBothListeners) {
  ServerProcess server(circuits_.path());

  for (const std::string service : {"", "started", "live"}) {
    const Outcome data = Client(server, {"health", "--service=" + service});
    const Outcome admin =
        Proofmill({"client", "health", "--service=" + service, "--target=" + server.admin()});

    EXPECT_EQ(std::make_pair(data.ending.exit_code, data.out), std::make_pair(0, std::string("serving\n")))
        << data.err;
    EXPECT_EQ(admin.ending.exit_code, 0) << admin.err;
  }
  EXPECT_EQ(Client(server, {"health", "--service=nobody"}).ending.exit_code, 2);
  server.Stop();
  const Outcome gone = Client(server, {"health"});
  EXPECT_EQ(gone.ending.exit_code, 3) << "there is nobody any more";
  EXPECT_THAT(gone.err, HasSubstr("is the service running there"));
}

TEST_F(ClientCommandTest, MutualTlsLetsInWhoHasACertificateOfTheAuthority) {
  const Authority authority("test authority"), stranger("another authority");
  const Authority::Identity service = authority.Issue("prover"), client = authority.Issue("wallet"),
                            intruder = stranger.Issue("wallet");
  Write(File("ca.pem"), authority.CertificatePem());
  Write(File("server.pem"), service.certificate_pem);
  Write(File("server.key"), service.key_pem);
  Write(File("client.pem"), client.certificate_pem);
  Write(File("client.key"), client.key_pem);
  Write(File("intruder.pem"), intruder.certificate_pem);
  Write(File("intruder.key"), intruder.key_pem);
  ServerProcess server(circuits_.path(),
                       {"--tls_cert=" + File("server.pem"), "--tls_key=" + File("server.key"),
                        "--tls_client_ca=" + File("ca.pem")});
  const std::string ca = "--ca=" + File("ca.pem");

  const Outcome good =
      Prove(server, {"--circuit=c", ca, "--cert=" + File("client.pem"), "--key=" + File("client.key")});
  EXPECT_EQ(good.ending.exit_code, 0) << good.err;
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{},
        {ca},
        {ca, "--cert=" + File("intruder.pem"), "--key=" + File("intruder.key")}}) {
    std::vector<std::string> words = {"health", "--deadline=5s"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Outcome refused = Client(server, words);
    EXPECT_EQ(refused.ending.exit_code, 3) << refused.out << refused.err;
  }
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
