#include "tests/server/service_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/backend/select.h"
#include "engine/dispatch/device_runner.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/synth.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

engine::SynthOptions CircuitOptions(const std::string& circuit) {
  engine::SynthOptions options;
  options.log2_domain = circuit == "small" ? 5 : 10;
  options.seed = circuit == "small" ? 1 : 2;
  options.n_public = circuit == "small" ? 1 : 3;
  return options;
}

std::string HttpGet(const std::string& address) {
  const std::vector<std::string> parts = absl::StrSplit(address, ':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(parts.back().c_str())));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

}  // namespace

std::string* ServiceTest::folder_ = nullptr;

Outcome OutcomeOf(const grpc::Status& status, const grpc::ClientContext& context) {
  Outcome outcome{.status = status, .reason = "", .has_retry_info = false, .pushback = ""};
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&info) && info.domain() == "proofmill") outcome.reason = info.reason();
    if (detail.UnpackTo(&retry)) outcome.has_retry_info = true;
  }
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find(kPushbackTrailer);
  if (pushback != trailers.end())
    outcome.pushback = std::string(pushback->second.data(), pushback->second.size());
  return outcome;
}

std::unique_ptr<grpc::ClientContext> ContextFor(std::chrono::milliseconds timeout) {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + timeout);
  return context;
}

void ServiceTest::SetUpTestSuite() {
  if (folder_ != nullptr) return;
  std::string path = ::testing::TempDir() + "service_test_XXXXXX";
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  for (const std::string circuit : {"small", "medium"}) {
    const absl::Status made =
        engine::Synthesize(CircuitOptions(circuit), absl::StrCat(path, "/", circuit, ".zkey"),
                           absl::StrCat(path, "/.", circuit, ".wtns"));
    ASSERT_TRUE(made.ok()) << made;
  }
  std::ofstream(path + "/broken.zkey") << "zkey, but not really";
  folder_ = new std::string(path);
}

void ServiceTest::StartServer(const std::function<void(Config&)>& change) {
  gate_.Open();
  server_.reset();
  Config config;
  config.circuits = *folder_;
  config.allow_insecure_keys = true;
  config.listen = config.admin_listen = config.metrics_listen = "127.0.0.1:0";
  config.drain_delay = absl::ZeroDuration();
  change(config);
  log_ = Log::ToStream(log_text_, LogLevel::kDebug);
  auto server = Server::Start(config, MakeRunners(), *log_);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!server_->engine().health().status().ready) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline)
        << server_->engine().health().status().why_not_ready;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  channel_ = MakeChannel();
  prover_ = v1::ProverService::NewStub(channel_);
  uploads_ = v1::UploadService::NewStub(channel_);
  jobs_ = v1::JobService::NewStub(channel_);
  circuits_ = v1::CircuitService::NewStub(channel_);
}

Server::Runners ServiceTest::MakeRunners() {
  Server::Runners runners;
  auto selection = engine::MakeBackends("cpu", {.cpu_threads = 1});
  EXPECT_TRUE(selection.ok()) << selection.status();
  for (auto& backend : selection->backends) {
    runners.push_back(
        std::make_unique<GatedRunner>(std::make_unique<engine::DeviceRunner>(std::move(backend)), gate_));
  }
  return runners;
}

void ServiceTest::TearDown() {
  gate_.Open();
  server_.reset();
}

void ServiceTest::Drain() {
  server_->Drain([](absl::Duration) {});
}

std::shared_ptr<grpc::Channel> ServiceTest::MakeChannel() const {
  grpc::ChannelArguments arguments;
  // Tests want to see each refusal, and a connection of their own.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(server_->data_address(), grpc::InsecureChannelCredentials(), arguments);
}

std::string ServiceTest::Wtns(const std::string& circuit, uint64_t seed) {
  const auto witness = engine::SynthWitness(CircuitOptions(circuit), seed);
  EXPECT_TRUE(witness.ok()) << witness.status();
  const auto bytes = engine::SerializeWtns(witness->values);
  return std::string(bytes.begin(), bytes.end());
}

v1::ProveRequest ServiceTest::Request(const std::string& wtns, const std::string& circuit) {
  v1::ProveRequest request;
  request.mutable_spec()->set_circuit(circuit);
  request.mutable_groth16()->set_wtns(wtns);
  return request;
}

Outcome ServiceTest::Prove(const v1::ProveRequest& request, v1::ProveResponse* response,
                           std::chrono::milliseconds timeout) {
  v1::ProveResponse unused;
  const auto context = ContextFor(timeout);
  const grpc::Status status =
      prover_->Prove(context.get(), request, response != nullptr ? response : &unused);
  return OutcomeOf(status, *context);
}

std::string ServiceTest::Metrics() const { return HttpGet(server_->metrics_address()); }

double ServiceTest::Metric(const std::string& series) const {
  for (const absl::string_view line : absl::StrSplit(Metrics(), '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    double value = 0;
    if (words.size() == 2 && words[0] == series && absl::SimpleAtod(words[1], &value)) return value;
  }
  return -1;
}

::testing::AssertionResult ServiceTest::MetricBecomes(const std::string& series, double value) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  double last = -1;
  while (std::chrono::steady_clock::now() < deadline) {
    last = Metric(series);
    if (last == value) return ::testing::AssertionSuccess();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return ::testing::AssertionFailure() << series << " is " << last << ", expected " << value;
}

}  // namespace proofmill::server
