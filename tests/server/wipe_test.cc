// Whether witnesses and API keys stay in the memory of the real service after the reply, in its logs or its
// files; over every call that takes a witness, with TLS and without.
//
// The control comes first: while a job waits, its witness is found in the memory of the process; otherwise
// not finding it later would mean nothing. The process is stopped while it is looked at.

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "clients/cpp/channel.h"
#include "gtest/gtest.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "server/api_keys.h"
#include "tests/e2e/certificates.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/whir_circuit.h"

namespace proofmill::e2e {
namespace {

constexpr size_t kHeaderBytes = 76;
constexpr size_t kNeedleBytes = 12;
constexpr size_t kNeedles = 24;
constexpr int kLooks = 20;  // of about half a second each

// Counts the places in the writable memory of a process that hold one of the needles.
size_t CountInMemory(pid_t pid, const std::vector<std::string>& needles) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  const int memory = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_GE(memory, 0) << "the memory of the service cannot be read";
  size_t count = 0, scanned = 0;
  std::vector<char> bytes;
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    char mode[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, mode) != 3 || mode[1] != 'w') continue;
    bytes.resize(end - begin);
    const ssize_t got = pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    if (got <= 0) continue;  // guard pages and the like
    scanned += static_cast<size_t>(got);
    for (const std::string& needle : needles) {
      const char* at = bytes.data();
      const char* const last = bytes.data() + got;
      while ((at = static_cast<const char*>(
                  memmem(at, static_cast<size_t>(last - at), needle.data(), needle.size()))) != nullptr) {
        ++count;
        ++at;
      }
    }
  }
  close(memory);
  EXPECT_GT(scanned, size_t{1} << 20);
  return count;
}

// As CountInMemory(), with the process stopped meanwhile.
size_t CountWhileStopped(Process& process, const std::vector<std::string>& needles) {
  process.Signal(SIGSTOP);
  const size_t count = CountInMemory(process.pid(), needles);
  process.Signal(SIGCONT);
  return count;
}

// Pieces of private values of a witness, spread over the whole of it. Synthetic dense values are random, so a
// piece that is found is no accident; the public signal, value 1, is left out.
std::vector<std::string> Needles(const std::string& wtns) {
  const size_t values = (wtns.size() - kHeaderBytes) / 32;
  std::vector<std::string> needles;
  for (size_t i = 0; i < kNeedles; ++i) {
    const size_t value = 2 + i * (values - 3) / (kNeedles - 1);
    needles.push_back(wtns.substr(kHeaderBytes + 32 * value + i % 16, kNeedleBytes));
  }
  return needles;
}

// The calls that take a witness.
enum class Way { kUnary, kStream, kUpload, kBatch, kJob };
constexpr const char* kWayNames[] = {"Unary", "Stream", "Upload", "Batch", "Job"};

struct Case {
  const char* circuit;
  Way way;
  bool tls;  // with an API key too
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.circuit << kWayNames[static_cast<size_t>(one.way)] << (one.tls ? "Tls" : "");
}

// Pieces of the secret part of an API key.
std::vector<std::string> KeyNeedles(const std::string& key) {
  std::vector<std::string> needles;
  for (size_t i = 17; i + kNeedleBytes <= key.size(); i += kNeedleBytes)
    needles.push_back(key.substr(i, kNeedleBytes));
  return needles;
}

class WipeTest : public ::testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    circuits_ = new CircuitFolder;
    circuits_->Add("tiny", {.log2_domain = 3,
                            .profile = engine::SynthProfile::kDense,
                            .seed = 1,
                            .n_public = 1,
                            .progress = {}});
    circuits_->Add("large", {.log2_domain = 14,
                             .profile = engine::SynthProfile::kDense,
                             .seed = 2,
                             .n_public = 1,
                             .progress = {}});
    // Keeps the device busy for long enough that a job behind it can be looked at.
    circuits_->Add("slow", {.log2_domain = 14,
                            .profile = engine::SynthProfile::kDense,
                            .seed = 3,
                            .n_public = 1,
                            .progress = {}});
  }
  static void TearDownTestSuite() { delete circuits_; }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.File(name)) << text;
  }
  // The flags of the service and the options of its clients.
  std::vector<std::string> Prepare() {
    std::vector<std::string> flags = {"--threads=1", "--core_dumps", "--state_dir=" + folder_.path(),
                                      "--audit_log=" + folder_.File("audit")};
    options_.retry.attempts_max = 1;
    if (!GetParam().tls) return flags;
    const Authority authority("test authority");
    const Authority::Identity service = authority.Issue("prover");
    Write("ca.pem", authority.CertificatePem());
    Write("server.pem", service.certificate_pem);
    Write("server.key", service.key_pem);
    Write("keys", key_.line + "\n");
    std::ofstream(key_folder_.File("key")) << key_.key << "\n";
    options_.ca_file = folder_.File("ca.pem");
    options_.api_key_file = key_folder_.File("key");
    flags.push_back("--tls_cert=" + folder_.File("server.pem"));
    flags.push_back("--tls_key=" + folder_.File("server.key"));
    flags.push_back("--api_key_file=" + folder_.File("keys"));
    return flags;
  }

  static v1::ProofSpec Spec(const std::string& circuit) {
    v1::ProofSpec spec;
    spec.set_circuit(circuit);
    return spec;
  }
  // A proof over the way of the case, with a connection that stays open.
  absl::StatusOr<v1::ProofResult> Prove(client::Client& client, const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& wtns) const {
    client::ProveOptions options;
    options.timeout = absl::Minutes(5);
    switch (GetParam().way) {
      case Way::kUnary:
        options.transfer = client::Transfer::kUnary;
        break;
      case Way::kStream:
        options.transfer = client::Transfer::kStream;
        break;
      case Way::kUpload:
        options.transfer = client::Transfer::kUpload;
        break;
      case Way::kBatch:
        return ProveInBatch(channel, wtns);
      case Way::kJob:
        return ProveAsJob(client, wtns);
    }
    return client.Prove(Spec(GetParam().circuit), wtns, options);
  }
  static absl::StatusOr<v1::ProofResult> ProveAsJob(client::Client& client, const std::string& wtns) {
    const auto made = client.CreateJob(Spec(GetParam().circuit), wtns);
    if (!made.ok()) return made.status();
    const auto ended = client.WatchJob(made->name(), absl::Minutes(5));
    if (!ended.ok()) return ended.status();
    return ended->result();
  }
  absl::StatusOr<v1::ProofResult> ProveInBatch(const std::shared_ptr<grpc::Channel>& channel,
                                               const std::string& wtns) const {
    grpc::ClientContext context;
    if (GetParam().tls) context.AddMetadata("authorization", "Bearer " + key_.key);
    const auto stream = v1::ProverService::NewStub(channel)->ProveBatch(&context);
    v1::ProveBatchRequest request;
    request.set_item_id("item");
    *request.mutable_request()->mutable_spec() = Spec(GetParam().circuit);
    request.mutable_request()->mutable_groth16()->set_wtns(wtns);
    v1::ProveBatchResponse response;
    if (!stream->Write(request) || !stream->WritesDone() || !stream->Read(&response)) {
      return absl::UnavailableError(stream->Finish().error_message());
    }
    const grpc::Status status = stream->Finish();
    if (!status.ok()) return absl::UnavailableError(status.error_message());
    return response.result();
  }

  // Waits until a metric has a value, or `call` has ended, which it should not have.
  template <typename T>
  static void WaitFor(const ServerProcess& server, const std::string& metric, double value,
                      const std::future<T>& call) {
    while (server.Metric(metric) != value) {
      if (call.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) continue;
      FAIL() << "the call ended before " << metric << " was " << value;
    }
  }
  static size_t CallsLogged(ServerProcess& server) {
    constexpr std::string_view kCall = "\"event\":\"rpc\"";
    const std::string text = server.process().Err();
    size_t count = 0;
    for (size_t at = text.find(kCall); at != std::string::npos; at = text.find(kCall, at + 1)) ++count;
    return count;
  }
  // The places in what the service has written that hold one of the needles: its logs and its files.
  size_t CountInOutput(ServerProcess& server, const std::vector<std::string>& needles) const {
    for (int i = 0; i < kLooks && CallsLogged(server) < 2; ++i)  // a call's line comes after its answer
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_GE(CallsLogged(server), 2u) << "the slow call and the one with the needles";
    std::string text = server.process().Out() + server.process().Err();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) text += ReadFile(entry.path());
    }
    size_t count = 0;
    for (const std::string& needle : needles) count += text.find(needle) == std::string::npos ? 0 : 1;
    return count;
  }

  static CircuitFolder* circuits_;
  const TemporaryFolder folder_, key_folder_;
  const server::NewApiKey key_ = *server::MakeApiKey("wallet", /*admin=*/false, absl::InfiniteFuture());
  client::ClientOptions options_;
};
CircuitFolder* WipeTest::circuits_ = nullptr;

TEST_P(WipeTest, AWitnessIsInMemoryWhileItsJobWaitsAndNotAfterTheReply) {
  const std::string circuit = GetParam().circuit;
  ServerProcess server(circuits_->path(), Prepare());
  const std::string wtns = circuits_->Wtns(circuit, 77);
  const std::vector<std::string> needles = Needles(wtns);
  const std::vector<std::string> key_needles = KeyNeedles(key_.key);
  ASSERT_EQ(CountWhileStopped(server.process(), needles), 0u) << "found before it was sent";

  auto slow = std::async(std::launch::async, [&] {
    client::ProveOptions options;
    options.timeout = absl::Minutes(5);
    const auto proof = server.MakeClient(options_)->Prove(Spec("slow"), circuits_->Wtns("slow", 1), options);
    EXPECT_TRUE(proof.ok()) << proof.status();
    return proof.ok();
  });
  ASSERT_NO_FATAL_FAILURE(WaitFor(server, "proofmill_proofs_in_flight", 1, slow));
  // The connection stays open to the end: what is wiped must not wait for its end.
  auto client = server.MakeClient(options_);
  options_.target = server.data();
  auto channel = client::MakeChannel(options_).value();
  auto canary = std::async(std::launch::async, [&] { return Prove(*client, channel, wtns); });
  ASSERT_NO_FATAL_FAILURE(WaitFor(server, "proofmill_queue_depth", 1, canary));
  const size_t while_waiting = CountWhileStopped(server.process(), needles);
  EXPECT_GE(while_waiting, needles.size()) << "the control: every needle is in the witness that waits";
  if (GetParam().tls) {
    EXPECT_GE(CountWhileStopped(server.process(), key_needles), 1u) << "the control: a call is open";
  }

  const auto result = canary.get();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(IsProofOf(*result, circuits_->vkey(circuit), circuits_->PublicSignals(circuit, 77)));
  EXPECT_TRUE(slow.get());
  EXPECT_EQ(CountWhileStopped(server.process(), needles), 0u) << "while waiting: " << while_waiting;
  EXPECT_EQ(CountInOutput(server, needles), 0u);
  EXPECT_EQ(CountInOutput(server, key_needles), 0u) << "the API key";
  // gRPC keeps the last bytes that it read from a connection, headers among them, until that closes.
  client.reset();
  channel.reset();
  size_t keys = CountWhileStopped(server.process(), key_needles);
  for (int i = 0; i < kLooks && keys != 0; ++i) {  // until the service has heard of it
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    keys = CountWhileStopped(server.process(), key_needles);
  }
  EXPECT_EQ(keys, 0u) << "the API key, after its connections have closed";
  server.Stop();
}

// Pieces of a polynomial, in the form that it is sent in and in that in which it is computed with.
std::vector<std::string> Needles(const WhirRequest& request) {
  constexpr size_t kWords = kNeedleBytes / 4;
  std::string montgomery;
  for (const kernels::BabyBear x : request.polynomial) {
    const uint32_t word = x.montgomery();
    montgomery.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  std::vector<std::string> needles;
  for (size_t i = 0; i < kNeedles; ++i) {
    const size_t at = 4 * (i * (request.polynomial.size() - kWords) / (kNeedles - 1));
    needles.push_back(request.evaluations.substr(at, kNeedleBytes));
    needles.push_back(montgomery.substr(at, kNeedleBytes));
  }
  return needles;
}

class WhirWipeTest : public ::testing::TestWithParam<client::Transfer> {};

TEST_P(WhirWipeTest, APolynomialIsInMemoryWhileItsJobWaitsAndNotAfterTheReply) {
  CircuitFolder circuits;
  circuits.Add(
      "slow",
      {.log2_domain = 14, .profile = engine::SynthProfile::kDense, .seed = 3, .n_public = 1, .progress = {}});
  const WhirCircuit poly(circuits.path(), "poly", kSmallWhir);
  ServerProcess server(circuits.path(), {"--threads=1", "--core_dumps"});
  const auto wait_for = [&](const std::string& metric, double value) {
    while (server.Metric(metric) != value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const WhirRequest request = poly.Request(77);
  const std::vector<std::string> needles = Needles(request);
  ASSERT_EQ(CountWhileStopped(server.process(), needles), 0u) << "found before it was sent";
  v1::ProofSpec slow_spec, spec;
  slow_spec.set_circuit("slow");
  spec.set_circuit("poly");
  client::ProveOptions options;
  options.timeout = absl::Minutes(5);
  auto slow = std::async(std::launch::async, [&] {
    return server.MakeClient()->Prove(slow_spec, circuits.Wtns("slow", 1), options).ok();
  });
  wait_for("proofmill_proofs_in_flight", 1);
  client::ProveOptions canary_options = options;
  canary_options.transfer = GetParam();
  const auto client = server.MakeClient();
  auto canary =
      std::async(std::launch::async, [&] { return client->Prove(spec, request.Input(), canary_options); });
  wait_for("proofmill_queue_depth", 1);
  EXPECT_GE(CountWhileStopped(server.process(), needles), needles.size() / 2) << "the control";

  const auto result = canary.get();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(poly.IsProofOf(*result, request));
  EXPECT_TRUE(slow.get());
  EXPECT_EQ(CountWhileStopped(server.process(), needles), 0u);
  server.Stop();
}

INSTANTIATE_TEST_SUITE_P(Ways, WhirWipeTest,
                         ::testing::Values(client::Transfer::kUnary, client::Transfer::kStream,
                                           client::Transfer::kUpload));

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  return (std::ostringstream() << info.param).str();
}

INSTANTIATE_TEST_SUITE_P(
    Ways, WipeTest,
    ::testing::Values(Case{"tiny", Way::kUnary, false}, Case{"tiny", Way::kStream, false},
                      Case{"tiny", Way::kUpload, false}, Case{"tiny", Way::kBatch, false},
                      Case{"tiny", Way::kJob, false}, Case{"large", Way::kUnary, false},
                      Case{"large", Way::kStream, false}, Case{"large", Way::kUpload, false},
                      Case{"large", Way::kBatch, false}, Case{"large", Way::kJob, false},
                      Case{"tiny", Way::kUnary, true}, Case{"large", Way::kUnary, true},
                      Case{"large", Way::kStream, true}, Case{"large", Way::kUpload, true},
                      Case{"large", Way::kBatch, true}, Case{"large", Way::kJob, true}),
    CaseName);

}  // namespace
}  // namespace proofmill::e2e
