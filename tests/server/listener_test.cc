// The listeners themselves: health, reflection, circuits, TLS, addresses.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "engine/formats/snarkjs_json.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/listen_address.h"
#include "tests/server/certificates.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class ListenerTest : public ServiceTest {
 protected:
  std::shared_ptr<grpc::Channel> AdminChannel() const {
    return grpc::CreateChannel(server_->admin_address(), grpc::InsecureChannelCredentials());
  }
  // The state of a health name, or the code of the failure.
  static std::string Check(const std::shared_ptr<grpc::Channel>& channel, const std::string& name) {
    HealthCheckRequest request;
    request.set_service(name);
    HealthCheckResponse response;
    const auto context = ContextFor();
    const grpc::Status status = Health::NewStub(channel)->Check(context.get(), request, &response);
    if (!status.ok()) return std::to_string(status.error_code());
    return HealthCheckResponse::ServingStatus_Name(response.status());
  }
  // What the reflection service answers to "list_services", as it is on the wire.
  static std::string ListServices(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::GenericStub stub(channel);
    grpc::CompletionQueue queue;
    const auto context = ContextFor();
    auto call = stub.PrepareCall(context.get(),
                                 "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
    void* tag;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    // ServerReflectionRequest{list_services: "*"}, field 7.
    const grpc::Slice slice(std::string("\x3a\x01*"));
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    queue.Next(&tag, &ok);
    grpc::ByteBuffer reply;
    call->Read(&reply, nullptr);
    queue.Next(&tag, &ok);
    std::vector<grpc::Slice> slices;
    reply.Dump(&slices).ok();
    std::string text;
    for (const auto& piece : slices) text.append(reinterpret_cast<const char*>(piece.begin()), piece.size());
    grpc::Status status;
    call->WritesDone(nullptr);
    queue.Next(&tag, &ok);
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    return text;
  }
};

TEST_F(ListenerTest, HealthHasItsThreeNamesOnBothListeners) {
  for (const auto& channel : {channel_, AdminChannel()}) {
    EXPECT_EQ(Check(channel, ""), "SERVING");
    EXPECT_EQ(Check(channel, "live"), "SERVING");
    EXPECT_EQ(Check(channel, "started"), "SERVING");
    EXPECT_EQ(Check(channel, "nothing"), std::to_string(grpc::StatusCode::NOT_FOUND));
  }
}

TEST_F(ListenerTest, WatchersHearOfTheDrainAndAreNotWaitedFor) {
  const auto stub = Health::NewStub(AdminChannel());
  const auto context = ContextFor();
  auto watch = stub->Watch(context.get(), HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  HealthCheckRequest unknown;
  unknown.set_service("nothing");
  const auto unknown_context = ContextFor();
  auto unknown_watch = stub->Watch(unknown_context.get(), unknown);
  ASSERT_TRUE(unknown_watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);

  std::string during;
  server_->Drain([&](absl::Duration) {
    if (!during.empty()) return;
    EXPECT_TRUE(watch->Read(&response));
    EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
    during = Check(channel_, "") + " " + Check(channel_, "live") + " " + Check(channel_, "started");
  });
  EXPECT_EQ(during, "NOT_SERVING SERVING SERVING");
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(unknown_watch->Read(&response));
  unknown_watch->Finish().ok();
}

TEST_F(ListenerTest, AManyTimesOpenedAndCancelledWatchLeavesNothing) {
  const auto stub = Health::NewStub(channel_);
  for (int i = 0; i < 200; ++i) {
    const auto context = ContextFor(std::chrono::milliseconds(1 + i % 3));
    auto watch = stub->Watch(context.get(), HealthCheckRequest());
    HealthCheckResponse response;
    while (watch->Read(&response)) {
    }
    watch->Finish().ok();
  }
  EXPECT_EQ(Check(channel_, ""), "SERVING");
}

TEST_F(ListenerTest, ReflectionShowsWhatEachListenerServesAndNothingElse) {
  const std::string data = ListServices(channel_);
  for (const char* service : {"proofmill.v1.ProverService", "proofmill.v1.UploadService",
                              "proofmill.v1.CircuitService", "grpc.health.v1.Health"}) {
    EXPECT_NE(data.find(service), std::string::npos) << service;
  }
  const std::string admin = ListServices(AdminChannel());
  EXPECT_NE(admin.find("proofmill.v1.CircuitService"), std::string::npos);
  EXPECT_NE(admin.find("grpc.health.v1.Health"), std::string::npos);
  EXPECT_EQ(admin.find("ProverService"), std::string::npos);
  EXPECT_EQ(admin.find("UploadService"), std::string::npos);
}

TEST_F(ListenerTest, CompressedMessagesAreRefusedBeforeTheyAreInflated) {
  v1::ProveRequest request = Request(std::string(size_t{16} << 20, '\0'));
  v1::ProveResponse response;
  const auto context = ContextFor();
  context->set_compression_algorithm(GRPC_COMPRESS_GZIP);

  const grpc::Status status = prover_->Prove(context.get(), request, &response);

  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(ProveSmall().status.ok());
}

TEST_F(ListenerTest, APeerThatSaysNothingDoesNotHoldUpTheMetrics) {
  const auto address = ParseListenAddress(server_->metrics_address());
  ASSERT_TRUE(address.ok());
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(address->port);
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(connect(silent, reinterpret_cast<const sockaddr*>(&target), sizeof(target)), 0);

  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(Metrics().find("proofmill_build_info"), std::string::npos);

  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  close(silent);
}

TEST_F(ListenerTest, CircuitsAreListedPageByPage) {
  v1::ListCircuitsRequest request;
  request.set_page_size(2);
  v1::ListCircuitsResponse page;
  auto context = ContextFor();
  ASSERT_TRUE(circuits_->ListCircuits(context.get(), request, &page).ok());
  ASSERT_EQ(page.circuits_size(), 2);
  EXPECT_EQ(page.circuits(0).id(), "broken");
  EXPECT_EQ(page.circuits(0).state(), v1::Circuit::STATE_FAILED);
  EXPECT_FALSE(page.circuits(0).failure().empty());
  EXPECT_EQ(page.circuits(1).id(), "medium");
  EXPECT_FALSE(page.circuits(1).has_verification_key());
  ASSERT_FALSE(page.next_page_token().empty());

  request.set_page_token(page.next_page_token());
  page.Clear();
  context = ContextFor();
  ASSERT_TRUE(circuits_->ListCircuits(context.get(), request, &page).ok());
  ASSERT_EQ(page.circuits_size(), 1);
  EXPECT_EQ(page.circuits(0).id(), "small");
  EXPECT_TRUE(page.next_page_token().empty());

  request.set_page_token("!");
  context = ContextFor();
  EXPECT_EQ(OutcomeOf(circuits_->ListCircuits(context.get(), request, &page), *context).reason,
            "REQUEST_INVALID");
  request.set_page_token("");
  request.set_page_size(-1);
  context = ContextFor();
  EXPECT_EQ(OutcomeOf(circuits_->ListCircuits(context.get(), request, &page), *context).reason,
            "REQUEST_INVALID");
}

TEST_F(ListenerTest, ACircuitIsShownWithItsKeyAndLimitsOnBothListeners) {
  for (const auto& channel : {channel_, AdminChannel()}) {
    v1::GetCircuitRequest request;
    request.set_id("medium");
    v1::GetCircuitResponse response;
    const auto context = ContextFor();
    ASSERT_TRUE(v1::CircuitService::NewStub(channel)->GetCircuit(context.get(), request, &response).ok());
    const v1::Circuit& circuit = response.circuit();
    EXPECT_EQ(circuit.state(), v1::Circuit::STATE_READY);
    EXPECT_EQ(circuit.proof_system(), v1::PROOF_SYSTEM_GROTH16_BN254);
    EXPECT_EQ(circuit.groth16_sizes().wires(), 1026u);
    EXPECT_EQ(circuit.groth16_sizes().public_signals(), 3u);
    EXPECT_EQ(circuit.groth16_sizes().domain(), 1024u);
    EXPECT_EQ(circuit.limits().witness_bytes(), 76u + 32 * 1026);
    EXPECT_EQ(circuit.limits().message_bytes_max(), 16u << 20);
    EXPECT_EQ(circuit.verification_key().ic_size(), 4);
    EXPECT_TRUE(circuit.insecure_test_setup());
    EXPECT_GT(circuit.warnings_size(), 0);
    EXPECT_TRUE(engine::ParseVerificationKeyJson(circuit.verification_key_json()).ok());
  }
}

TEST_F(ListenerTest, ARecordOfAnAuditThatIsLostIsWarnedOf) {
  const std::string state = testing::TempDir() + "/lost_audit_record." + std::to_string(getpid());
  ASSERT_TRUE(std::filesystem::create_directory(state));
  std::ofstream(state + "/audited-keys") << "a file where the folder of the records should be";
  StartServer([&](Config& config) { config.state_dir = state; });
  std::filesystem::remove_all(state);
  server_.reset();  // every event has been written then
  EXPECT_THAT(log_text_.str(),
              testing::ContainsRegex(R"("level":"warn","event":"circuit_warning","circuit":"medium",)"
                                     R"("message":"the audit is not on record: [^"]*/audited-keys/)"
                                     R"([0-9a-f]{128}: cannot create: Not a directory")"));
}

TEST_F(ListenerTest, AnAddressThatIsTakenIsAnErrorNotASecondServer) {
  Config config;
  config.circuits = *folder_;
  config.metrics_listen = "127.0.0.1:0";
  for (const bool data : {true, false}) {
    config.listen = data ? server_->data_address() : "127.0.0.1:0";
    config.admin_listen = data ? "127.0.0.1:0" : server_->admin_address();
    const auto log = Log::ToStream(log_text_, LogLevel::kError);
    const auto second = Server::Start(config, MakeRunners(), *log);
    EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
    const std::string message(second.status().message());
    EXPECT_NE(message.find(data ? "data listener" : "admin listener"), std::string::npos) << message;
    EXPECT_NE(message.find("Address already in use"), std::string::npos) << message;
    EXPECT_NE(message.find(data ? "--listen " : "--admin_listen "), std::string::npos) << message;
  }
}

// A server with TLS, and channels with and without what it wants.
class TlsListenerTest : public ListenerTest {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "listener_test_" + name;
    std::ofstream(path) << text;
    return path;
  }
  void StartTls(bool client_certificates) {
    StartServer([&](Config& config) {
      config.tls_cert = Write("cert.pem", server_pair_.cert_pem);
      config.tls_key = Write("key.pem", server_pair_.key_pem);
      if (client_certificates) config.tls_client_ca = Write("ca.pem", client_pair_.cert_pem);
    });
  }
  grpc::StatusCode ProveOver(const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(server_->data_address(), credentials, arguments);
    const auto context = ContextFor();
    v1::ProveResponse response;
    return v1::ProverService::NewStub(channel)
        ->Prove(context.get(), Request(Wtns("small")), &response)
        .error_code();
  }
  std::shared_ptr<grpc::ChannelCredentials> Credentials(const std::string& roots,
                                                        const CertificatePair* own) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = roots;
    if (own != nullptr) {
      options.pem_cert_chain = own->cert_pem;
      options.pem_private_key = own->key_pem;
    }
    return grpc::SslCredentials(options);
  }

  const int64_t now_ = absl::ToUnixSeconds(absl::Now());
  const CertificatePair server_pair_ = MakeCertificate(now_ - 3600, now_ + 3600);
  const CertificatePair client_pair_ = MakeCertificate(now_ - 3600, now_ + 3600);
};

TEST_F(TlsListenerTest, WithTlsOnlyTlsIsSpoken) {
  StartTls(false);
  EXPECT_EQ(ProveOver(Credentials(server_pair_.cert_pem, nullptr)), grpc::StatusCode::OK);
  EXPECT_EQ(ProveOver(grpc::InsecureChannelCredentials()), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ProveOver(Credentials(client_pair_.cert_pem, nullptr)), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Check(AdminChannel(), ""), "SERVING") << "health needs no TLS on the admin listener";
}

TEST_F(TlsListenerTest, WithAClientAuthorityClientsNeedACertificate) {
  StartTls(true);
  EXPECT_EQ(ProveOver(Credentials(server_pair_.cert_pem, &client_pair_)), grpc::StatusCode::OK);
  EXPECT_EQ(ProveOver(Credentials(server_pair_.cert_pem, nullptr)), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ProveOver(Credentials(server_pair_.cert_pem, &server_pair_)), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsListenerTest, BadFilesAreRefusedBeforeAnythingIsBound) {
  Config config;
  config.circuits = *folder_;
  config.listen = config.admin_listen = config.metrics_listen = "127.0.0.1:0";
  config.tls_cert = Write("cert.pem", server_pair_.cert_pem);
  config.tls_key = Write("key.pem", client_pair_.key_pem);
  const auto log = Log::ToStream(log_text_, LogLevel::kError);
  EXPECT_TRUE(absl::IsInvalidArgument(Server::Start(config, MakeRunners(), *log).status()));
}

TEST_F(TlsListenerTest, CertificatesAreChangedUnderLoadWithoutAFailedCall) {
  StartServer([&](Config& config) {
    config.tls_cert = Write("cert.pem", server_pair_.cert_pem);
    config.tls_key = Write("key.pem", server_pair_.key_pem);
    config.upload_idle_timeout = absl::Milliseconds(100);  // looks at the files each 25 ms
  });
  const CertificatePair other_pair = MakeCertificate(now_ - 3600, now_ + 7200);
  const std::string both = server_pair_.cert_pem + other_pair.cert_pem;
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0}, failed{0};
  std::thread load([&] {
    while (!stop) {
      failed += ProveOver(Credentials(both, nullptr)) == grpc::StatusCode::OK ? 0 : 1;
      ++calls;
    }
  });
  double accepted = 0;
  for (int round = 0; round < 6; ++round) {
    const CertificatePair& next = round % 2 == 0 ? other_pair : server_pair_;
    // The certificate first and the key later: for a while they do not belong together; then one half
    // written.
    Write("cert.pem", next.cert_pem);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    Write("key.pem", next.key_pem.substr(0, 100));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    Write("key.pem", next.key_pem);
    ASSERT_TRUE(MetricBecomes(R"(proofmill_tls_reloads_total{outcome="accepted"})", ++accepted));
    EXPECT_EQ(ProveOver(Credentials(next.cert_pem, nullptr)), grpc::StatusCode::OK) << "new connections";
    EXPECT_NEAR(Metric("proofmill_tls_certificate_expiry_timestamp_seconds"),
                static_cast<double>(now_ + (round % 2 == 0 ? 7200 : 3600)), 1);
  }
  stop = true;
  load.join();

  EXPECT_GT(calls, 0);
  EXPECT_EQ(failed, 0);
  EXPECT_GE(Metric(R"(proofmill_tls_reloads_total{outcome="refused"})"), 6);
  EXPECT_EQ(ProveOver(Credentials(other_pair.cert_pem, nullptr)), grpc::StatusCode::UNAVAILABLE)
      << "the old one is not shown any more";
}

TEST_F(ListenerTest, BoundsThatTheMachineHasNoMemoryForAreAWarningAtTheStart) {
  EXPECT_EQ(log_text_.str().find(R"("event":"memory_budget","needed_bytes":1152921)"), std::string::npos);
  StartServer([](Config& config) { config.queue_witness_bytes_max.bytes = uint64_t{1} << 60; });
  EXPECT_NE(log_text_.str().find(R"("level":"warn","event":"memory_budget","needed_bytes":1152921)"),
            std::string::npos)
      << log_text_.str();
}

}  // namespace
}  // namespace proofmill::server
