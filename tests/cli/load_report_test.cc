#include "cli/load_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace proofmill::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// 100 proofs, of 1, 2, ..., 100 ms, in 2 seconds.
LoadStepReport Step() {
  LoadStepReport step;
  step.step = {.rate = 50, .under_way = 256};
  step.result.seconds = 2;
  step.result.proved_by_second = {50, 50};
  step.result.kinds.resize(1);
  LoadReply reply{.kind = LoadReply::Kind::kProved,
                  .queue_wait_seconds = 0.0005,
                  .run_seconds = 0.0008,
                  .stages = {{"ntt", 0.001}}};
  for (int ms = 100; ms >= 1; --ms) step.result.kinds[0].Add(reply, ms * 1e-3, ms * 1e-3);
  step.verdicts = LoadJudge::Verdicts{.good = 100};
  return step;
}

TEST(PercentilesTest, EachIsAValueThatWasMeasured) {
  std::vector<double> values;
  for (int i = 1000; i >= 1; --i) values.push_back(i);
  const Percentiles p = PercentilesOf(values);
  EXPECT_EQ(p.p50, 500);
  EXPECT_EQ(p.p90, 900);
  EXPECT_EQ(p.p95, 950);
  EXPECT_EQ(p.p99, 990);
  EXPECT_EQ(p.p999, 999);
  EXPECT_EQ(p.max, 1000);
  EXPECT_EQ(p.mean, 500.5);
}

TEST(PercentilesTest, FewValuesAndNoneWork) {
  EXPECT_EQ(PercentilesOf({7}).p50, 7);
  EXPECT_EQ(PercentilesOf({7}).p999, 7);
  EXPECT_EQ(PercentilesOf({}).max, 0);
}

TEST(ObjectivesTest, WhatIsMetIsNotMissed) {
  const LoadObjectives objectives{
      .p50 = absl::Milliseconds(50), .p99 = absl::Milliseconds(99), .failed_share = 0, .rate = 50};
  EXPECT_THAT(Missed(Step(), objectives), IsEmpty());
}

TEST(ObjectivesTest, EachThatIsMissedIsNamed) {
  LoadStepReport step = Step();
  step.result.kinds[0].Add({.kind = LoadReply::Kind::kFailed, .reason = "QUEUE_FULL"}, 1, 1);
  const LoadObjectives objectives{
      .p50 = absl::Milliseconds(49), .p99 = absl::Milliseconds(98), .failed_share = 0.005, .rate = 51};
  EXPECT_THAT(Missed(step, objectives),
              ElementsAre(HasSubstr("p50 of at most 49ms, got 50"), HasSubstr("p99 of at most 98ms, got 99"),
                          HasSubstr("failed share of at most 0.005, got 0.0099"),
                          HasSubstr("at least 51 proofs a second, got 50")));
}

TEST(ObjectivesTest, ABadProofAndNoProofAtAllAreNeverGood) {
  LoadStepReport bad = Step();
  bad.verdicts = LoadJudge::Verdicts{.good = 99, .bad = 1, .first_bad = "proof r-1 of c: it does not verify"};
  EXPECT_THAT(Missed(bad, {}), ElementsAre(HasSubstr("r-1 of c")));
  LoadStepReport none = Step();
  none.result.kinds[0] = LoadTally();
  EXPECT_THAT(Missed(none, {}), ElementsAre(HasSubstr("got none")));
}

TEST(LoadReportTest, TheTableHasALineForEachStepAndTheServersSide) {
  LoadReport report{.target = "t", .circuits = {"c"}, .steps = {Step(), Step()}};
  report.steps[1].step.rate = 100;
  report.steps[1].result.kinds[0].Add({.kind = LoadReply::Kind::kFailed, .reason = "QUEUE_FULL"}, 1, 1);
  const std::string text = LoadText(report, {});
  for (const char* part : {"50/s", "100/s", "99.0 ms", "overhead", "queue wait", "proof, on its device",
                           "stage ntt", "100/s: 1 x QUEUE_FULL"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(LoadReportTest, WhereNothingWasProvedNoTimeIsShown) {
  LoadStepReport step = Step();
  step.result.kinds[0] = LoadTally();
  step.result.kinds[0].Add({.kind = LoadReply::Kind::kFailed, .reason = "QUEUE_FULL"}, 1, 1);

  const std::string text = LoadText({.target = "t", .circuits = {"c"}, .steps = {step}}, {});

  EXPECT_THAT(text, ContainsRegex("50/s +1 +0 +1 +0 +100 +0 +-( +-){4}\n"));
  EXPECT_THAT(text, ContainsRegex("queue wait, at the service( +-){5}\n"));
  EXPECT_THAT(text, Not(HasSubstr("0 us")));
}

TEST(LoadReportTest, WhereNothingWasProvedTheTimesInJsonAreNull) {
  LoadStepReport step = Step();
  step.result.kinds[0] = LoadTally();
  step.result.kinds[0].Add({.kind = LoadReply::Kind::kFailed, .reason = "QUEUE_FULL"}, 1, 1);

  const auto json =
      nlohmann::json::parse(LoadJson({.target = "t", .circuits = {"c"}, .steps = {step}}, {}))["steps"][0];

  for (const nlohmann::json& of : {json, json["by_circuit"]["c"]}) {
    for (const char* times : {"latency_seconds", "service_seconds", "overhead_seconds"}) {
      EXPECT_TRUE(of.contains(times) && of[times].is_null()) << times;
    }
    EXPECT_TRUE(of["server"]["queue_wait_seconds"].is_null());
    EXPECT_TRUE(of["server"]["run_seconds"].is_null());
    EXPECT_TRUE(of["server"]["stages_seconds"].empty());
    EXPECT_EQ(of["proofs_per_second"], 0);
    EXPECT_EQ(of["failed"], 1);
  }
}

TEST(LoadReportTest, TheJsonHasAllOfIt) {
  const LoadReport report{.target = "t", .circuits = {"c"}, .steps = {Step()}};
  const auto json = nlohmann::json::parse(LoadJson(report, {.p50 = absl::Milliseconds(1)}));
  EXPECT_EQ(json["objectives_met"], false);
  const auto& step = json["steps"][0];
  EXPECT_EQ(step["loop"], "open");
  EXPECT_EQ(step["rate"], 50);
  EXPECT_EQ(step["proofs_per_second"], 50);
  EXPECT_EQ(step["latency_seconds"]["p99"], 0.099);
  EXPECT_EQ(step["server"]["queue_wait_seconds"]["p50"], 0.0005);
  EXPECT_EQ(step["server"]["run_seconds"]["p50"], 0.0008);
  EXPECT_NEAR(step["overhead_seconds"]["max"], 0.0992, 1e-12);
  EXPECT_EQ(step["failed_with_delay"], 0);
  EXPECT_EQ(step["server"]["stages_seconds"]["ntt"]["p50"], 0.001);
  EXPECT_EQ(step["by_circuit"]["c"]["proved"], 100);
  EXPECT_EQ(step["verified"], 100);
  EXPECT_EQ(step["bad"], 0);
  EXPECT_EQ(step["proved_by_second"].size(), 2u);
  EXPECT_EQ(step["missed"].size(), 1u);
}

}  // namespace
}  // namespace proofmill::cli
