// Circuits that come, go and change their keys while the real service runs, with proofs of others going on.
//
// PROOFMILL_TEST_BACKEND=cuda runs the service on the GPUs; the memory of the devices is looked at then too.

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "gtest/gtest.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "tests/e2e/server_process.h"
#include "tests/sanitized.h"

namespace proofmill::e2e {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

std::string Backend() {
  const char* const backend = std::getenv("PROOFMILL_TEST_BACKEND");
  return backend == nullptr ? "cpu" : backend;
}

std::vector<std::string> Flags(std::vector<std::string> more = {}) {
  more.push_back("--backend=" + Backend());
  return more;
}

v1::ProofSpec SpecOf(const std::string& circuit) {
  v1::ProofSpec spec;
  spec.set_circuit(circuit);
  return spec;
}

std::unique_ptr<client::Client> AdminOf(const ServerProcess& server) {
  client::ClientOptions options;
  options.target = server.admin();
  return client::Client::Create(options).value();
}

// Loads or unloads, and waits for the end.
absl::StatusOr<v1::Circuit> Load(client::Client& admin, const std::string& id) {
  const auto begun = admin.LoadCircuit(id, kPatience);
  return begun.ok() ? admin.WatchCircuit(id, kPatience) : begun;
}
absl::Status Unload(client::Client& admin, const std::string& id) {
  const auto begun = admin.UnloadCircuit(id, kPatience);
  if (!begun.ok() || begun->state() == v1::Circuit::STATE_UNLOADED) return begun.status();
  const auto gone = admin.WatchCircuit(id, kPatience);
  if (absl::IsNotFound(gone.status())) return absl::OkStatus();  // before we could look
  if (!gone.ok()) return gone.status();
  return gone->state() == v1::Circuit::STATE_UNLOADED ? absl::OkStatus()
                                                      : absl::InternalError("it is still there");
}

// Bytes of memory that a process has resident.
int64_t ResidentBytes(pid_t pid) {
  const std::vector<std::string> words = absl::StrSplit(ReadFile(absl::StrCat("/proc/", pid, "/statm")), ' ');
  return words.size() < 2 ? -1 : std::stoll(words[1]) * sysconf(_SC_PAGESIZE);
}

// Clients that prove one name over and over, each with witnesses of its own, and look at every proof.
class Callers {
 public:
  // Says of a result whether it is right; gets the seed of the witness.
  using Judge = std::function<::testing::AssertionResult(const v1::ProofResult&, uint64_t seed)>;

  struct Options {
    size_t count;                                 // of clients
    absl::Duration pause = absl::ZeroDuration();  // of each between two proofs
  };
  Callers(const ServerProcess& server, const Options& load, const std::string& name,
          std::function<std::string(uint64_t seed)> witness, Judge judge)
      : witness_(std::move(witness)), judge_(std::move(judge)), failures_(load.count) {
    for (size_t i = 0; i < load.count; ++i) {
      threads_.emplace_back(
          [this, i, name, pause = load.pause, client = std::shared_ptr<client::Client>(server.MakeClient())] {
            for (uint64_t n = 1; !stop_ && failures_[i].empty(); ++n) {
              const uint64_t seed = i * 1'000'000 + n;
              client::ProveOptions options;
              options.timeout = kPatience;
              options.transfer = Ways()[n % Ways().size()];
              const auto result = client->Prove(SpecOf(name), witness_(seed), options);
              const auto verdict = result.ok() ? judge_(*result, seed)
                                               : ::testing::AssertionFailure() << result.status().ToString();
              if (verdict) {
                ++proofs_;
              } else {
                failures_[i] = absl::StrCat("proof ", n, ": ", verdict.message());
              }
              absl::SleepFor(pause);
            }
          });
    }
  }
  ~Callers() { Stop(); }

  int proofs() const { return proofs_; }
  bool AwaitMore(int count) {
    const int before = proofs_;
    const absl::Time deadline = absl::Now() + kPatience;
    while (proofs_ < before + count && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(2));
    return proofs_ >= before + count;
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const std::string& failure : failures_) EXPECT_EQ(failure, "");
    failures_.clear();
  }

 private:
  static const std::vector<client::Transfer>& Ways() {
    static const auto& ways =
        *new std::vector<client::Transfer>{client::Transfer::kUnary, client::Transfer::kStream,
                                           client::Transfer::kUnary, client::Transfer::kUpload};
    return ways;
  }

  const std::function<std::string(uint64_t)> witness_;
  const Judge judge_;
  std::atomic<bool> stop_{false};
  std::atomic<int> proofs_{0};
  std::vector<std::string> failures_;  // one for each thread
  std::vector<std::thread> threads_;
};

class CircuitsTest : public ::testing::Test {
 protected:
  void Add(const std::string& id, uint32_t log2_domain, uint64_t seed = 1) {
    engine::SynthOptions options = Synthetic(log2_domain, engine::SynthProfile::kDense, 2);
    options.seed = seed;
    circuits_.Add(id, options);
  }
  Callers CallersOf(const ServerProcess& server, size_t count, const std::string& id,
                    absl::Duration pause = absl::ZeroDuration()) {
    return Callers(
        server, {.count = count, .pause = pause}, id,
        [this, id](uint64_t seed) { return circuits_.Wtns(id, seed); },
        [this, id](const v1::ProofResult& result, uint64_t seed) {
          if (result.circuit() != id) {
            return ::testing::AssertionFailure() << "a proof of " << result.circuit() << ", expected " << id;
          }
          return IsProofOf(result, circuits_.vkey(id), circuits_.PublicSignals(id, seed));
        });
  }
  ::testing::AssertionResult Proves(const ServerProcess& server, const std::string& id, uint64_t seed = 5) {
    const auto result = server.MakeClient()->Prove(SpecOf(id), circuits_.Wtns(id, seed));
    if (!result.ok()) return ::testing::AssertionFailure() << result.status();
    return IsProofOf(*result, circuits_.vkey(id), circuits_.PublicSignals(id, seed));
  }

  CircuitFolder circuits_;
};

TEST_F(CircuitsTest, AThousandLoadsAndUnloadsLeaveMemoryAsItWas) {
  constexpr int kWarmUp = kAddressSanitized ? 10 : 200;
  constexpr int kRounds = kAddressSanitized ? 50 : 1'000;
  constexpr int64_t kGrowthMax = int64_t{4} << 20;
  Add("steady", 7);
  Add("guest", 8, 2);
  // Results of proofs are kept for a while, by their request ids: not for long here.
  ServerProcess server(circuits_.path(), Flags({"--job_result_ttl=1s"}));
  const auto admin = AdminOf(server);
  ASSERT_TRUE(Unload(*admin, "guest").ok());
  Callers callers = CallersOf(server, 1, "steady", absl::Milliseconds(20));

  int64_t before = 0, after = 0;
  double keys_before = 0, keys_after = 0;
  for (int i = 0; i < kRounds; ++i) {
    const auto loaded = Load(*admin, "guest");
    ASSERT_TRUE(loaded.ok()) << loaded.status() << " in round " << i;
    ASSERT_EQ(loaded->state(), v1::Circuit::STATE_READY) << loaded->failure();
    if (i % 50 == 0) {
      ASSERT_TRUE(Proves(server, "guest", static_cast<uint64_t>(i) + 1));
    }
    const absl::Status unloaded = Unload(*admin, "guest");
    ASSERT_TRUE(unloaded.ok()) << unloaded << " in round " << i;
    if (i + 1 != kWarmUp && i + 1 != kRounds) continue;
    int64_t& bytes = i + 1 == kWarmUp ? before : after;
    double& keys = i + 1 == kWarmUp ? keys_before : keys_after;
    bytes = ResidentBytes(server.process().pid());
    keys = server.Metric("proofmill_device_memory_bytes", "kind=\"keys\"");
  }
  const int proofs = callers.proofs();
  callers.Stop();

  std::printf(
      "resident: %.1f MiB after %d rounds, %.1f MiB after %d; keys on devices: %.0f and %.0f bytes; "
      "%d proofs of the other circuit meanwhile\n",
      static_cast<double>(before) / (1 << 20), kWarmUp, static_cast<double>(after) / (1 << 20), kRounds,
      keys_before, keys_after, proofs);
  EXPECT_GT(before, 0);
  if (!kAddressSanitized) {
    EXPECT_LT(after, before + kGrowthMax);
  }
  EXPECT_EQ(keys_after, keys_before) << "memory of the devices";
  EXPECT_GT(proofs, kAddressSanitized ? 5 : 100);
  EXPECT_EQ(
      server.Metric("proofmill_requests_total", "code=\"OK\",method=\"CircuitAdminService/LoadCircuit\""),
      kRounds);
  EXPECT_EQ(server.Metric("proofmill_self_check_failures_total"), 0);
  server.Stop();
}

// An alias goes to and fro between two keys of one circuit, each of which is unloaded and loaded again in
// between. Witnesses fit both, so only the right key makes a proof that verifies under the one that the
// result names.
TEST_F(CircuitsTest, ARotationUnderLoadLosesAndMixesNothing) {
  Add("v1", 9);
  circuits_.AddSetup("v2", "v1", 77);
  ServerProcess server(circuits_.path(), Flags());
  const auto admin = AdminOf(server);
  ASSERT_TRUE(admin->SetAlias("current", "v1").ok());
  const std::string version_1 = admin->GetCircuit("v1")->version();
  const std::string version_2 = admin->GetCircuit("v2")->version();
  ASSERT_NE(version_1, version_2);
  std::atomic<int> by_v1{0}, by_v2{0};
  Callers callers(
      server, {.count = 4}, "current", [&](uint64_t seed) { return circuits_.Wtns("v1", seed); },
      [&](const v1::ProofResult& result, uint64_t seed) {
        const std::string& id = result.circuit();
        if (id != "v1" && id != "v2") return ::testing::AssertionFailure() << "a proof of " << id;
        if (result.circuit_version() != (id == "v1" ? version_1 : version_2)) {
          return ::testing::AssertionFailure() << "the version is not that of " << id;
        }
        ++(id == "v1" ? by_v1 : by_v2);
        return IsProofOf(result, circuits_.vkey(id), circuits_.PublicSignals("v1", seed));
      });

  for (int round = 0; round < 8; ++round) {
    const std::string old_id = round % 2 == 0 ? "v1" : "v2", new_id = round % 2 == 0 ? "v2" : "v1";
    ASSERT_EQ(Load(*admin, new_id)->state(), v1::Circuit::STATE_READY);
    ASSERT_TRUE(callers.AwaitMore(4));
    const auto before = admin->SetAlias("current", new_id);
    ASSERT_TRUE(before.ok()) << before.status();
    EXPECT_EQ(*before, old_id);
    const absl::Status unloaded = Unload(*admin, old_id);
    ASSERT_TRUE(unloaded.ok()) << unloaded;
    ASSERT_TRUE(callers.AwaitMore(4));
  }
  callers.Stop();

  EXPECT_GT(by_v1, 0);
  EXPECT_GT(by_v2, 0);
  EXPECT_EQ(server.Metric("proofmill_self_check_failures_total"), 0);
  server.Stop();
}

// The same without an alias: the key file itself is replaced, and the circuit loaded anew under its id.
TEST_F(CircuitsTest, AKeyThatIsReplacedUnderItsIdServesUntilTheNewOneDoes) {
  Add("c", 9);
  circuits_.AddSetup("next", "c", 78);
  ServerProcess server(circuits_.path(), Flags());
  const auto admin = AdminOf(server);
  const std::string version_1 = admin->GetCircuit("c")->version();
  const std::string version_2 = admin->GetCircuit("next")->version();
  std::atomic<int> by_next{0};
  Callers callers(
      server, {.count = 3}, "c", [&](uint64_t seed) { return circuits_.Wtns("c", seed); },
      [&](const v1::ProofResult& result, uint64_t seed) {
        const bool next = result.circuit_version() == version_2;
        if (!next && result.circuit_version() != version_1) {
          return ::testing::AssertionFailure() << "a proof of no known version";
        }
        by_next += next;
        return IsProofOf(result, circuits_.vkey(next ? "next" : "c"), circuits_.PublicSignals("c", seed));
      });
  ASSERT_TRUE(callers.AwaitMore(4));

  // A key that is refused changes nothing.
  const std::string kept = circuits_.KeyPath("c") + ".kept";
  std::filesystem::rename(circuits_.KeyPath("c"), kept);
  std::ofstream(circuits_.KeyPath("c"), std::ios::binary) << "zkey, but not really";
  const auto refused = Load(*admin, "c");
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(refused->state(), v1::Circuit::STATE_READY);
  EXPECT_EQ(refused->version(), version_1);
  EXPECT_NE(refused->reload_failure(), "");
  EXPECT_FALSE(absl::StrContains(refused->reload_failure(), circuits_.path())) << refused->reload_failure();
  ASSERT_TRUE(callers.AwaitMore(4));

  std::filesystem::copy_file(circuits_.KeyPath("next"), kept,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::rename(kept, circuits_.KeyPath("c"));
  const auto replaced = Load(*admin, "c");
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_EQ(replaced->version(), version_2);
  EXPECT_EQ(replaced->reload_failure(), "");
  ASSERT_TRUE(callers.AwaitMore(8));
  callers.Stop();

  EXPECT_GT(by_next, 0);
  server.Stop();
}

TEST_F(CircuitsTest, WhatWasAdmittedIsProvedThoughTheCircuitIsUnloadedMeanwhile) {
  Add("c", 8);
  Add("other", 6);
  ServerProcess server(circuits_.path(), Flags());
  const auto admin = AdminOf(server);
  const auto stub =
      v1::ProverService::NewStub(grpc::CreateChannel(server.data(), grpc::InsecureChannelCredentials()));
  const std::string wtns = circuits_.Wtns("c", 3);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  const auto stream = stub->ProveStream(&context);
  v1::ProveStreamRequest request;
  *request.mutable_header()->mutable_spec() = SpecOf("c");
  request.mutable_header()->set_size_bytes(wtns.size());
  ASSERT_TRUE(stream->Write(request));
  v1::ProveStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_TRUE(response.has_admitted());

  const auto unloading = admin->UnloadCircuit("c");
  ASSERT_TRUE(unloading.ok()) << unloading.status();
  EXPECT_EQ(unloading->state(), v1::Circuit::STATE_UNLOADING);
  EXPECT_EQ(client::ErrorReason(server.MakeClient()->Prove(SpecOf("c"), wtns).status()), "CIRCUIT_UNKNOWN");
  request.Clear();
  request.mutable_chunk()->set_data(wtns);
  ASSERT_TRUE(stream->Write(request));
  stream->WritesDone();
  v1::ProofResult result;
  while (stream->Read(&response)) {
    if (response.has_result()) result = response.result();
  }
  const grpc::Status status = stream->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(IsProofOf(result, circuits_.vkey("c"), circuits_.PublicSignals("c", 3)));

  const auto gone = admin->WatchCircuit("c", kPatience);
  EXPECT_TRUE(absl::IsNotFound(gone.status()) || gone->state() == v1::Circuit::STATE_UNLOADED);
  EXPECT_FALSE(absl::StrContains(server.Scrape(), "proofmill_circuit_loaded{circuit=\"c\""));
  EXPECT_TRUE(Proves(server, "other"));
  server.Stop();
}

// What a load takes from running proofs, as a share of their rate: measured in turns, with and without loads
// one after the other. The bound is loose, since machines that run tests do other things beside; the figure
// is printed.
TEST_F(CircuitsTest, LoadsTakeLittleFromRunningProofs) {
  constexpr int kTurns = 3;
  constexpr auto kTurn = std::chrono::milliseconds(1000);
  Add("steady", 12);
  Add("guest", 13, 2);
  // The proof of the canary is one job more, and no load.
  std::filesystem::remove(circuits_.path() + "/guest.canary.wtns");
  ServerProcess server(circuits_.path(), Flags());
  const auto admin = AdminOf(server);
  Callers callers = CallersOf(server, 2, "steady");
  ASSERT_TRUE(callers.AwaitMore(5));
  std::vector<double> shares;
  int loads = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto rate = [&](bool with_loads) {
      const int before = callers.proofs();
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() < start + kTurn) {
        if (!with_loads) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          continue;
        }
        EXPECT_TRUE(Unload(*admin, "guest").ok());
        EXPECT_EQ(Load(*admin, "guest")->state(), v1::Circuit::STATE_READY);
        ++loads;
      }
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      return (callers.proofs() - before) / time.count();
    };
    const double without = rate(false);
    shares.push_back(1 - rate(true) / without);
  }
  callers.Stop();
  std::sort(shares.begin(), shares.end());
  std::printf("loads take %.0f %% of the rate of proofs (median of %d turns; %d loads)\n",
              100 * shares[kTurns / 2], kTurns, loads);
  EXPECT_LT(shares[kTurns / 2], 0.6);
  EXPECT_GT(loads, 0);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
