// Everybody gets the proof of what they sent, whoever else proves at the same time.

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

constexpr uint64_t kClients = 8;
constexpr uint64_t kProofsPerClient = 100;

TEST(IsolationTest, EveryReplyIsTheProofOfWhatItsClientSent) {
  CircuitFolder circuits;
  const std::vector<std::string> ids = {"one", "two", "three"};
  circuits.Add("one", Synthetic(6, engine::SynthProfile::kDense, 1));
  circuits.Add("two", Synthetic(7, engine::SynthProfile::kBits, 5));
  circuits.Add("three", Synthetic(8, engine::SynthProfile::kDense, 2));
  ServerProcess server(circuits.path());

  std::vector<std::string> failures(kClients);
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < kClients; ++number) {
    threads.emplace_back([&, number] {
      const std::unique_ptr<client::Client> client = server.MakeClient();
      for (uint64_t i = 0; i < kProofsPerClient && failures[number].empty(); ++i) {
        const std::string& id = ids[(number + i) % ids.size()];
        const uint64_t witness_seed = 1 + number * kProofsPerClient + i;
        v1::ProofSpec spec;
        spec.set_circuit(id);
        client::ProveOptions options;
        options.timeout = absl::Minutes(10);
        options.transfer = i % 4 == 0 ? client::Transfer::kStream : client::Transfer::kUnary;
        const auto result = client->Prove(std::move(spec), circuits.Wtns(id, witness_seed), options);
        if (!result.ok()) {
          failures[number] = result.status().ToString();
          continue;
        }
        const auto verdict = IsProofOf(*result, circuits.vkey(id), circuits.PublicSignals(id, witness_seed));
        if (!verdict)
          failures[number] = absl::StrCat("proof ", i, " of circuit ", id, ": ", verdict.message());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (uint64_t number = 0; number < kClients; ++number)
    EXPECT_EQ(failures[number], "") << "client " << number;
  EXPECT_EQ(server.Metric("proofmill_requests_total", "code=\"OK\",method=\"ProverService/Prove"),
            static_cast<double>(kClients * kProofsPerClient));
  EXPECT_EQ(server.Metric("proofmill_self_check_failures_total"), 0);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
