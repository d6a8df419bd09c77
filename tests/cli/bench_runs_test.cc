#include "cli/bench_runs.h"

#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

TEST(StatsOfTest, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(StatsOf({3, 1, 2}).median, 2);
  EXPECT_EQ(StatsOf({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(StatsOf({5}).median, 5);
  EXPECT_EQ(StatsOf({4, 1, 3}).min, 1);
  EXPECT_EQ(StatsOf({4, 1, 3}).max, 4);
}

TEST(BenchFlagsTest, WarmUpRunsAreMadeAndNotMeasured) {
  BenchFlags flags;
  flags.runs = 3;
  flags.warmup = 2;
  int calls = 0;

  const auto seconds = flags.Measure([&] {
    ++calls;
    return absl::OkStatus();
  });

  ASSERT_TRUE(seconds.ok());
  EXPECT_EQ(seconds->size(), 3u);
  EXPECT_EQ(calls, 5);
}

TEST(BenchFlagsTest, TheFirstErrorEndsTheRuns) {
  int calls = 0;

  const auto seconds = BenchFlags().Measure([&] {
    ++calls;
    return absl::InternalError("no");
  });

  EXPECT_TRUE(absl::IsInternal(seconds.status()));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace proofmill::cli
