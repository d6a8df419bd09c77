// Everything at a time that callers should not do, against the real service: deadlines of a few milliseconds,
// cancelled calls, killed clients, broken uploads, damaged witnesses, circuits that come and go, bytes that
// are no HTTP/2. Meanwhile some callers behave, and are served; in the end the service has answered and
// counted everything, holds nothing any more, and ends in order. A build with sanitizers must report nothing.
//
//   build/asan/tests/e2e/e2e_chaos_test --seconds=600 [--seed=N]

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/chaos_actors.h"

namespace proofmill::e2e {
namespace {

uint32_t seconds = 8;  // set by main()
uint64_t seed = 1;

using Answers = std::map<std::string, uint64_t>;

// What each kind of caller was answered.
std::map<std::string, Answers> Sum(const std::vector<std::unique_ptr<ChaosActor>>& actors) {
  std::map<std::string, Answers> sums;
  for (const auto& actor : actors) {
    Answers& sum = sums[actor->name()];
    for (const auto& [answer, count] : actor->answers()) sum[answer] += count;
  }
  return sums;
}

uint64_t Total(const Answers& answers) {
  uint64_t total = 0;
  for (const auto& [answer, count] : answers) total += count;
  return total;
}

void Print(const std::map<std::string, Answers>& sums) {
  for (const auto& [name, answers] : sums) {
    std::string line = absl::StrFormat("%-14s %8d", name, Total(answers));
    for (const auto& [answer, count] : answers) absl::StrAppend(&line, "  ", answer, " ", count);
    std::puts(line.c_str());
  }
}

class ChaosTest : public ::testing::Test {
 protected:
  ChaosTest() {
    circuits_.Add("steady", Synthetic(6, engine::SynthProfile::kDense, 2));
    circuits_.Add("damaged", Synthetic(5, engine::SynthProfile::kDense, 1));
    circuits_.Add("busy", Synthetic(9, engine::SynthProfile::kDense, 1));
    circuits_.Add("guest", Synthetic(7, engine::SynthProfile::kBits, 3));
    // Bounds that are met, and times that pass; but nobody is cut off who answers pings late, as everybody
    // does on a busy machine.
    server_ = std::make_unique<ServerProcess>(
        circuits_.path(),
        std::vector<std::string>{"--queue_jobs_max=24", "--upload_count_max=24", "--upload_idle_timeout=2s",
                                 "--job_count_max=64", "--job_result_ttl=3s", "--verify_queue_max=4",
                                 "--keepalive_timeout=5m", "--log_level=debug"});
  }

  // All of them at a time, until it is over.
  static void Act(const std::vector<std::unique_ptr<ChaosActor>>& actors) {
    const absl::Time end = absl::Now() + absl::Seconds(seconds);
    std::vector<std::thread> threads;
    threads.reserve(actors.size());
    for (const auto& actor : actors) {
      threads.emplace_back([&actor, end] {
        while (absl::Now() < end && actor->wrong().empty()) actor->Act();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // What the service still holds once nobody asks for anything.
  void ExpectNothingLeft() const {
    for (const char* gauge : {"proofmill_queue_depth", "proofmill_queue_witness_bytes",
                              "proofmill_proofs_in_flight", "proofmill_streams", "proofmill_uploads",
                              "proofmill_upload_bytes", "proofmill_verify_queue_depth", "proofmill_jobs"}) {
      const absl::Time deadline = absl::Now() + absl::Minutes(1);
      while (server_->Metric(gauge) != 0 && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(50));
      EXPECT_EQ(server_->Metric(gauge), 0) << gauge;
    }
  }

  // Those that never give up have an answer to each call, and the service has counted the same.
  void ExpectSameCounts(const std::string& circuit, const Answers& answers) const {
    const auto counted = [&](const std::string& code) {
      return server_->Metric("proofmill_requests_total", absl::StrCat("circuit=\"", circuit, "\"", code,
                                                                      ",method=\"ProverService/Prove\""));
    };
    const auto ok = answers.find("OK");
    EXPECT_EQ(counted(",code=\"OK\""), static_cast<double>(ok == answers.end() ? 0 : ok->second)) << circuit;
    double all = 0;
    for (const char* code : {"OK", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}) {
      all += counted(absl::StrCat(",code=\"", code, "\""));
    }
    EXPECT_EQ(all, static_cast<double>(Total(answers))) << circuit;
    EXPECT_EQ(server_->Metric("proofmill_requests_total", absl::StrCat("circuit=\"", circuit, "\"")), all)
        << "other codes, or other calls: " << circuit;
  }

  // The log is JSON, and a report of a sanitizer is not.
  void ExpectCleanLog() const {
    size_t lines = 0;
    const std::string log = server_->process().Err();
    for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
      ++lines;
      if (!nlohmann::json::accept(line)) {
        FAIL() << "in the log:\n" << log.substr(static_cast<size_t>(line.data() - log.data()), 6000);
      }
      EXPECT_FALSE(absl::StrContains(line, "\"level\":\"critical\"")) << line;
    }
    EXPECT_GT(lines, 100u);
  }

  CircuitFolder circuits_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(ChaosTest, EverybodyWhoBehavesIsServedAndNothingIsLeftBehind) {
  const ChaosScene scene{*server_, circuits_};
  const auto actors = MakeChaosActors(scene, seed);

  Act(actors);

  const auto sums = Sum(actors);
  Print(sums);
  for (const auto& actor : actors) EXPECT_EQ(actor->wrong(), "");
  for (const auto& [name, answers] : sums) EXPECT_GT(Total(answers), 0u) << name << " did nothing";
  EXPECT_GT(sums.at("steady").at("OK"), 0u);
  ExpectNothingLeft();
  ExpectSameCounts("steady", sums.at("steady"));
  ExpectSameCounts("damaged", sums.at("liar"));
  EXPECT_EQ(server_->Metric("proofmill_device_errors_total"), 0);
  EXPECT_EQ(server_->Metric("proofmill_self_check_failures_total", "verdict=\"device\""), 0);
  EXPECT_EQ(server_->Metric("proofmill_device_up"), 1);
  v1::ProofSpec spec;
  spec.set_circuit("steady");
  const auto proof = server_->MakeClient()->Prove(spec, circuits_.Wtns("steady", 1));
  EXPECT_TRUE(proof.ok()) << proof.status();
  server_->Stop();
  ExpectCleanLog();
}

}  // namespace

bool ReadFlags(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    const bool known = absl::ConsumePrefix(&word, "--seconds=") ? absl::SimpleAtoi(word, &seconds)
                       : absl::ConsumePrefix(&word, "--seed=")  ? absl::SimpleAtoi(word, &seed)
                                                                : false;
    if (!known) {
      std::fprintf(stderr, "expected --seconds=N or --seed=N, got %s\n", argv[i]);
      return false;
    }
  }
  return true;
}

}  // namespace proofmill::e2e

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!proofmill::e2e::ReadFlags(argc, argv)) return 2;
  return RUN_ALL_TESTS();
}
