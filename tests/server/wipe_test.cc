// Whether witnesses stay in the memory of the real service after the reply.
//
// The control comes first: while a job waits, its witness is found in the memory of the process; otherwise
// not finding it later would mean nothing. The process is stopped while it is looked at.

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "proofmill/v1/prover.pb.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/whir_circuit.h"

namespace proofmill::e2e {
namespace {

constexpr size_t kHeaderBytes = 76;
constexpr size_t kNeedleBytes = 12;
constexpr size_t kNeedles = 24;

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

class WipeTest : public ::testing::TestWithParam<std::tuple<const char*, client::Transfer>> {
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

  static v1::ProofSpec Spec(const std::string& circuit) {
    v1::ProofSpec spec;
    spec.set_circuit(circuit);
    return spec;
  }

  static void WaitFor(const ServerProcess& server, const std::string& metric, double value) {
    while (server.Metric(metric) != value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  static CircuitFolder* circuits_;
};
CircuitFolder* WipeTest::circuits_ = nullptr;

TEST_P(WipeTest, AWitnessIsInMemoryWhileItsJobWaitsAndNotAfterTheReply) {
  const auto& [circuit, transfer] = GetParam();
  ServerProcess server(circuits_->path(), {"--threads=1", "--core_dumps"});
  const std::string wtns = circuits_->Wtns(circuit, 77);
  const std::vector<std::string> needles = Needles(wtns);
  ASSERT_EQ(CountWhileStopped(server.process(), needles), 0u) << "found before it was sent";

  client::ProveOptions options;
  options.timeout = absl::Minutes(5);
  auto slow = std::async(std::launch::async, [&] {
    return server.MakeClient()->Prove(Spec("slow"), circuits_->Wtns("slow", 1), options).ok();
  });
  WaitFor(server, "proofmill_proofs_in_flight", 1);
  client::ProveOptions canary_options = options;
  canary_options.transfer = transfer;
  // The connection stays open to the end: what is wiped must not wait for its end.
  const auto client = server.MakeClient();
  auto canary = std::async(std::launch::async,
                           [&, id = circuit] { return client->Prove(Spec(id), wtns, canary_options); });
  WaitFor(server, "proofmill_queue_depth", 1);
  const size_t while_waiting = CountWhileStopped(server.process(), needles);
  EXPECT_GE(while_waiting, needles.size()) << "the control: every needle is in the witness that waits";

  const auto result = canary.get();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(IsProofOf(*result, circuits_->vkey(circuit), circuits_->PublicSignals(circuit, 77)));
  EXPECT_TRUE(slow.get());
  EXPECT_EQ(CountWhileStopped(server.process(), needles), 0u) << "while waiting: " << while_waiting;
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

std::string WayName(const ::testing::TestParamInfo<WipeTest::ParamType>& info) {
  const char* const names[] = {"Auto", "Unary", "Stream", "Upload"};
  return std::string(std::get<0>(info.param)) + names[static_cast<size_t>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Ways, WipeTest,
                         ::testing::Combine(::testing::Values("tiny", "large"),
                                            ::testing::Values(client::Transfer::kUnary,
                                                              client::Transfer::kStream,
                                                              client::Transfer::kUpload)),
                         WayName);

}  // namespace
}  // namespace proofmill::e2e
