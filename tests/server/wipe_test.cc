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
