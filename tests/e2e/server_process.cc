#include "tests/e2e/server_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/proof_messages.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/proving_key.h"
#include "engine/groth16/verifier.h"

namespace proofmill::e2e {
namespace {

constexpr auto kStartTime = std::chrono::seconds(120);  // under sanitizers on a busy machine
constexpr auto kStopTime = std::chrono::seconds(120);

// The value of `key=` in a line of words.
std::string WordAfter(const std::string& line, const std::string& key) {
  for (const absl::string_view word : absl::StrSplit(line, absl::ByAnyChar(" \n"))) {
    if (absl::StartsWith(word, key + "=")) return std::string(word.substr(key.size() + 1));
  }
  return "";
}

// One HTTP request on a connection of its own; the body of the answer, or nothing.
std::string HttpGet(const std::string& address, const std::string& path) {
  const std::vector<std::string> parts = absl::StrSplit(address, ':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(parts.back().c_str())));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    char buffer[4096];
    for (ssize_t n; (n = ::recv(fd, buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<size_t>(n));
  }
  ::close(fd);
  const size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

}  // namespace

engine::SynthOptions Synthetic(uint32_t log2_domain, engine::SynthProfile profile, uint32_t n_public) {
  engine::SynthOptions options;
  options.log2_domain = log2_domain;
  options.profile = profile;
  options.n_public = n_public;
  options.seed = log2_domain;
  return options;
}

void CircuitFolder::Add(const std::string& id, const engine::SynthOptions& options) {
  // The witness of seed 0 becomes the canary.
  const absl::Status made = engine::Synthesize(options, KeyPath(id), folder_.File(id + ".canary.wtns"));
  ASSERT_TRUE(made.ok()) << made;
  Know(id, options);
}

void CircuitFolder::AddSetup(const std::string& id, const std::string& of, uint64_t seed) {
  const engine::SynthOptions options = Find(of).options;
  const auto system = engine::SynthConstraints(options);
  ASSERT_TRUE(system.ok()) << system.status();
  engine::SetupOptions setup;
  setup.seed = seed;
  const absl::Status made = engine::Setup(**system, setup, KeyPath(id));
  ASSERT_TRUE(made.ok()) << made;
  const absl::Status canary = engine::WriteSynthWitness(options, 0, folder_.File(id + ".canary.wtns"));
  ASSERT_TRUE(canary.ok()) << canary;
  Know(id, options);
}

void CircuitFolder::Know(const std::string& id, const engine::SynthOptions& options) {
  engine::KeyOptions key_options;
  key_options.allow_insecure_test_keys = true;
  const auto key = engine::LoadProvingKey(KeyPath(id), key_options);
  ASSERT_TRUE(key.ok()) << key.status();
  circuits_.push_back({id, options, (*key)->vk()});
}

const CircuitFolder::Circuit& CircuitFolder::Find(const std::string& id) const {
  for (const Circuit& circuit : circuits_) {
    if (circuit.id == id) return circuit;
  }
  ADD_FAILURE() << "no circuit " << id;
  std::abort();
}

std::string CircuitFolder::Wtns(const std::string& id, uint64_t witness_seed) const {
  const engine::Witness witness = engine::SynthWitness(Find(id).options, witness_seed).value();
  const auto bytes = engine::SerializeWtns(absl::MakeConstSpan(witness.values.data(), witness.values.size()));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> CircuitFolder::PublicSignals(const std::string& id, uint64_t witness_seed) const {
  const engine::Witness witness = engine::SynthWitness(Find(id).options, witness_seed).value();
  std::vector<std::string> signals;
  for (size_t i = 1; i <= Find(id).options.n_public; ++i) {
    signals.push_back(cli::ToBytes(kernels::Fr::FromPlain(witness.values[i])));
  }
  return signals;
}

ServerProcess::ServerProcess(const std::string& circuits, const std::vector<std::string>& flags,
                             const std::vector<std::string>& launcher) {
  // An idle client hears that its server goes away only when gRPC polls, by default each 5 s, and the server
  // waits for it that long. Read when the first channel is made.
  ::setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "50", 0);
  std::vector<std::string> arguments = {"serve",
                                        "--circuits=" + circuits,
                                        "--listen=127.0.0.1:0",
                                        "--admin_listen=127.0.0.1:0",
                                        "--metrics_listen=127.0.0.1:0",
                                        "--allow_insecure_keys",
                                        "--drain_delay=0s"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  process_ = Launch(launcher, ProofmillPath(), arguments);

  const auto deadline = std::chrono::steady_clock::now() + kStartTime;
  std::string out;
  while (!absl::StrContains(out, "proofmill ready ") && process_->IsRunning() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    out = process_->Out();
  }
  data_ = WordAfter(out, "data");
  admin_ = WordAfter(out, "admin");
  metrics_ = WordAfter(out, "metrics");
  EXPECT_TRUE(absl::StrContains(out, "proofmill ready ")) << out << process_->Err();
}

std::unique_ptr<client::Client> ServerProcess::MakeClient(client::ClientOptions options) const {
  options.target = data_;
  return client::Client::Create(options).value();
}

std::string ServerProcess::Scrape() const { return HttpGet(metrics_, "/metrics"); }

double ServerProcess::Metric(const std::string& name, const std::string& labels) const {
  double sum = 0;
  const std::string text = Scrape();
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, name + "{") && !absl::StartsWith(line, name + " ")) continue;
    if (!labels.empty() && !absl::StrContains(line, labels)) continue;
    double value = 0;
    EXPECT_TRUE(absl::SimpleAtod(line.substr(line.rfind(' ') + 1), &value)) << line;
    sum += value;
  }
  return sum;
}

void ServerProcess::Stop() {
  process_->Signal(SIGTERM);
  ExpectCleanEnd();
}

void ServerProcess::ExpectCleanEnd() {
  const std::optional<Ending> ending = process_->Wait(kStopTime);
  ASSERT_TRUE(ending.has_value()) << "the service did not end after SIGTERM\n" << process_->Err();
  EXPECT_EQ(ending->signal, 0) << process_->Err();
  EXPECT_EQ(ending->exit_code, 0) << process_->Err();
}

::testing::AssertionResult IsProofOf(const v1::ProofResult& result, const engine::VerificationKey& vkey,
                                     const std::vector<std::string>& expected) {
  const std::vector<std::string> signals(result.public_signals().begin(), result.public_signals().end());
  if (signals != expected)
    return ::testing::AssertionFailure() << "the public signals are those of another request";
  const auto proof = cli::ToProof(result.groth16());
  if (!proof.ok()) return ::testing::AssertionFailure() << proof.status();
  const auto publics = cli::ToSignals(result.public_signals());
  if (!publics.ok()) return ::testing::AssertionFailure() << publics.status();
  const auto valid = engine::Verify(vkey, *publics, *proof);
  if (!valid.ok() || !*valid) return ::testing::AssertionFailure() << "the proof does not verify";
  return ::testing::AssertionSuccess();
}

}  // namespace proofmill::e2e
