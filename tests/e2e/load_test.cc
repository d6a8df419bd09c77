// `proofmill load` against the real service.

#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    circuits_.Add("a", Synthetic(6, engine::SynthProfile::kDense, 1));
    circuits_.Add("b", Synthetic(7, engine::SynthProfile::kBits, 2));
    for (const std::string id : {"a", "b"}) {
      for (uint64_t seed : {1u, 2u}) {
        std::ofstream(File(id, seed), std::ios::binary) << circuits_.Wtns(id, seed);
      }
    }
  }
  std::string File(const std::string& id, uint64_t seed) const {
    return folder_.File(id + std::to_string(seed) + ".wtns");
  }
  Outcome Load(const ServerProcess& server, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"load", "--target=" + server.data()});
    return Proofmill(flags);
  }
  std::vector<std::string> Mix() const {
    return {"--circuit=a", "--witness=" + File("a", 1), "--witness=" + File("a", 2), "--weight=3",
            "--circuit=b", "--witness=" + File("b", 1)};
  }
  std::vector<std::string> MixAnd(const std::vector<std::string>& flags) const {
    std::vector<std::string> all = Mix();
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }

  CircuitFolder circuits_;
  TemporaryFolder folder_;
};

TEST_F(LoadTest, EveryRequestOfARampIsProvedVerifiedAndCountedByBothSides) {
  ServerProcess server(circuits_.path());

  const Outcome run =
      Load(server, MixAnd({"--concurrency=1,4", "--requests=40", "--slo_failed=0", "--json"}));

  ASSERT_EQ(run.ending.exit_code, 0) << run.out << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["steps"].size(), 2u);
  uint64_t of_a = 0;
  for (const auto& step : json["steps"]) {
    EXPECT_EQ(step["loop"], "closed");
    EXPECT_EQ(step["sent"], 40);
    EXPECT_EQ(step["proved"], 40);
    EXPECT_EQ(step["verified"], 40);
    EXPECT_EQ(step["bad"], 0);
    EXPECT_GT(step["proofs_per_second"], 0);
    EXPECT_GT(step["server"]["stages_seconds"]["self_check"]["p50"], 0);
    EXPECT_GE(step["latency_seconds"]["p50"], step["server"]["queue_wait_seconds"]["p50"]);
    EXPECT_GT(step["server"]["run_seconds"]["p50"], step["server"]["stages_seconds"]["self_check"]["p50"]);
    EXPECT_GT(step["overhead_seconds"]["p50"], 0);
    of_a += step["by_circuit"]["a"]["proved"].get<uint64_t>();
  }
  EXPECT_GT(of_a, 40u) << "three of four";
  EXPECT_EQ(server.Metric("proofmill_requests_total", "method=\"ProverService/Prove\""), 80);
  EXPECT_EQ(server.Metric("proofmill_queue_witness_bytes"), 0);
  server.Stop();
}

TEST_F(LoadTest, AnOpenLoopOverStreamsWorksAndPrintsTables) {
  ServerProcess server(circuits_.path());

  const Outcome run = Load(server, MixAnd({"--rate=20,40", "--duration=1s", "--transfer=stream"}));

  ASSERT_EQ(run.ending.exit_code, 0) << run.out << run.err;
  for (const char* part : {"20/s", "40/s", "proofs/s", "queue wait", "stage self_check"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_GT(server.Metric("proofmill_requests_total", "method=\"ProverService/ProveStream\""), 20);
  server.Stop();
}

TEST_F(LoadTest, AnObjectiveThatIsMissedGivesExitCode1AndIsNamed) {
  ServerProcess server(circuits_.path());

  const Outcome run = Load(server, MixAnd({"--requests=5", "--slo_p50=1us"}));

  EXPECT_EQ(run.ending.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("expected a p50 of at most 1us, got"));
  server.Stop();
}

TEST_F(LoadTest, RefusalsAreSeenAsTheyAreAndRetriedOnRequestOnly) {
  circuits_.Add("slow", Synthetic(12, engine::SynthProfile::kDense, 1));
  std::ofstream(folder_.File("slow.wtns"), std::ios::binary) << circuits_.Wtns("slow", 1);
  ServerProcess server(circuits_.path(), {"--queue_jobs_max=1"});
  const std::vector<std::string> flood = {"--circuit=slow", "--witness=" + folder_.File("slow.wtns"),
                                          "--concurrency=6", "--requests=12", "--json"};

  const Outcome plain = Load(server, flood);
  std::vector<std::string> patient = flood;
  patient.insert(patient.end(), {"--retry", "--slo_failed=0", "--deadline=5m"});
  const Outcome retried = Load(server, patient);

  ASSERT_EQ(plain.ending.exit_code, 0) << plain.out << plain.err;
  const auto step = nlohmann::json::parse(plain.out)["steps"][0];
  EXPECT_GT(step["failures"]["QUEUE_FULL"], 0) << plain.out;
  EXPECT_EQ(step["failed_with_delay"], step["failed"]) << "each refusal says when to come back";
  ASSERT_EQ(retried.ending.exit_code, 0) << retried.out << retried.err;
  EXPECT_EQ(nlohmann::json::parse(retried.out)["steps"][0]["verified"], 12);
  server.Stop();
}

TEST_F(LoadTest, AbandonedRequestsLeaveNothingBehind) {
  ServerProcess server(circuits_.path());

  const Outcome run = Load(server, MixAnd({"--concurrency=4", "--requests=200", "--abandon_share=0.5",
                                           "--abandon_within=4ms", "--slo_failed=0", "--json"}));

  ASSERT_EQ(run.ending.exit_code, 0) << run.out << run.err;
  const auto step = nlohmann::json::parse(run.out)["steps"][0];
  EXPECT_GT(step["abandoned"], 0);
  EXPECT_GE(step["proved"], 70) << "half of them, less what chance takes";
  EXPECT_EQ(step["proved"], step["verified"]);
  server.Stop();
}

TEST_F(LoadTest, WhatCannotBeUsedIsRefusedBeforeAnythingIsSent) {
  ServerProcess server(circuits_.path());
  const std::vector<std::vector<std::string>> cases = {{},
                                                       {"--circuit=a"},
                                                       {"--witness=" + File("a", 1)},
                                                       MixAnd({"--rate=1", "--concurrency=1"}),
                                                       MixAnd({"--rate=0"}),
                                                       MixAnd({"--concurrency=1,x"}),
                                                       MixAnd({"--weight=-1"}),
                                                       MixAnd({"--abandon_share=2"}),
                                                       MixAnd({"--slo_p99=1"}),
                                                       {"--circuit=nobody", "--witness=" + File("a", 1)},
                                                       {"--circuit=b", "--witness=" + File("a", 1)},
                                                       {"--circuit=a", "--witness=" + File("missing", 1)}};
  for (const auto& flags : cases) {
    const Outcome run = Load(server, flags);
    EXPECT_EQ(run.ending.exit_code, 2) << ::testing::PrintToString(flags) << run.out << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(server.Metric("proofmill_requests_total", "method=\"ProverService/Prove\""), 0);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
