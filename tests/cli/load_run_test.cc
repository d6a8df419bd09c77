#include "cli/load_run.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

using std::chrono::milliseconds;

LoadReply Proved() {
  LoadReply reply;
  reply.kind = LoadReply::Kind::kProved;
  return reply;
}

LoadResult RunStep(const LoadPlan& plan, const LoadStep& step, const LoadSend& send) {
  std::atomic<uint64_t> proved{0};
  LoadResult result = RunLoad(plan, step, send, proved);
  uint64_t by_second = 0;
  for (const uint32_t count : result.proved_by_second) by_second += count;
  EXPECT_EQ(by_second, proved);
  return result;
}

TEST(LoadRunTest, AClosedLoopKeepsAsManyUnderWayAsItIsTold) {
  std::atomic<int> now{0}, most{0};
  const LoadResult result =
      RunStep({.weights = {1}}, {.under_way = 3, .requests = 30}, [&](size_t, uint64_t) {
        int seen = ++now;
        for (int before = most; before < seen && !most.compare_exchange_weak(before, seen);) {
        }
        // Until all three are here, so that the test does not depend on how threads are scheduled.
        while (most < 3) std::this_thread::yield();
        --now;
        return Proved();
      });
  EXPECT_EQ(most, 3);
  EXPECT_EQ(result.kinds[0].sent, 30u);
  EXPECT_EQ(result.kinds[0].proved, 30u);
  EXPECT_EQ(result.kinds[0].latency.size(), 30u);
}

TEST(LoadRunTest, AnOpenLoopKeepsItsRateWhateverBecomesOfTheRequests) {
  const LoadResult result = RunStep(
      {.weights = {1}}, {.rate = 100, .even = true, .under_way = 4, .duration = absl::Milliseconds(205)},
      [&](size_t, uint64_t) { return LoadReply{.kind = LoadReply::Kind::kFailed, .reason = "QUEUE_FULL"}; });
  EXPECT_EQ(result.kinds[0].sent, 21u) << "at 0, 10, ..., 200 ms";
  EXPECT_EQ(result.kinds[0].failed, 21u);
  EXPECT_EQ(result.kinds[0].failures.at("QUEUE_FULL"), 21u);
  EXPECT_TRUE(result.kinds[0].latency.empty()) << "only proofs have a latency";
}

TEST(LoadRunTest, WhatWaitsBehindASlowRequestIsMeasuredFromWhenItShouldHaveBeenSent) {
  // One sender, a request each 5 ms, and a service that takes 20: the last of 20 is sent 19 * 15 ms late.
  const LoadResult result = RunStep(
      {.weights = {1}}, {.rate = 200, .even = true, .under_way = 1, .requests = 20}, [&](size_t, uint64_t) {
        std::this_thread::sleep_for(milliseconds(20));
        return Proved();
      });
  const LoadTally& tally = result.kinds[0];
  ASSERT_EQ(tally.latency.size(), 20u);
  EXPECT_GE(tally.latency.back(), 0.020 + 19 * 0.015 - 1e-6);
  EXPECT_GE(tally.latency.back() - tally.service.back(), 19 * 0.015 - 1e-6);
}

TEST(LoadRunTest, RandomIntervalsHaveTheRateAsTheirMean) {
  const auto start = std::chrono::steady_clock::now();
  RunStep({.weights = {1}, .seed = 7}, {.rate = 10'000, .under_way = 1, .requests = 2000},
          [](size_t, uint64_t) { return Proved(); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(took.count(), 0.2 * 0.9) << "the sum of 1999 intervals of 0.1 ms, which varies by 2 %";
}

TEST(LoadRunTest, AMixHasItsWeightsAndTheSameSeedTheSameOrder) {
  const LoadPlan plan{.weights = {3, 1}, .seed = 42};
  std::vector<std::vector<size_t>> orders;
  for (int run = 0; run < 2; ++run) {
    std::vector<size_t> order;
    const LoadResult result =
        RunStep(plan, {.under_way = 1, .requests = 4000}, [&](size_t kind, uint64_t number) {
          EXPECT_EQ(number, order.size());
          order.push_back(kind);
          return Proved();
        });
    // Five standard deviations of a binomial: 5 * sqrt(4000 * 0.75 * 0.25) = 137.
    EXPECT_NEAR(static_cast<double>(result.kinds[0].proved), 3000, 137);
    EXPECT_EQ(result.kinds[0].proved + result.kinds[1].proved, 4000u);
    orders.push_back(std::move(order));
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(LoadRunTest, TheWarmUpIsSentAndNotCounted) {
  std::atomic<int> sent{0};
  const LoadResult result =
      RunStep({.weights = {1}},
              {.rate = 100, .even = true, .under_way = 2, .requests = 20, .warmup = absl::Milliseconds(95)},
              [&](size_t, uint64_t) {
                ++sent;
                return Proved();
              });
  EXPECT_EQ(sent, 20);
  EXPECT_EQ(result.kinds[0].sent, 10u) << "those at 0, ..., 90 ms are the warm-up";
  EXPECT_GE(result.seconds, 0.090 - 1e-6) << "from 100 to 190 ms";
}

TEST(LoadRunTest, AbandonedRequestsAreNeitherProvedNorFailed) {
  const LoadResult result =
      RunStep({.weights = {1}}, {.under_way = 1, .requests = 4}, [](size_t, uint64_t number) {
        LoadReply reply = Proved();
        if (number % 2 == 0) reply.kind = LoadReply::Kind::kAbandoned;
        return reply;
      });
  EXPECT_EQ(result.kinds[0].abandoned, 2u);
  EXPECT_EQ(result.kinds[0].proved, 2u);
  EXPECT_EQ(result.kinds[0].failed, 0u);
}

TEST(LoadTallyTest, StagesAndWaitsOfAllSendersComeTogether) {
  LoadReply reply = Proved();
  reply.queue_wait_seconds = 0.5;
  reply.run_seconds = 0.25;
  reply.stages = {{"ntt", 0.1}};
  LoadTally a, b;
  a.Add(reply, 2, 1);
  b.Add(reply, 4, 3);
  b.Add({.kind = LoadReply::Kind::kFailed, .reason = "X"}, 9, 9);
  b.Add({.kind = LoadReply::Kind::kFailed, .reason = "Y", .has_retry_delay = true}, 9, 9);

  a.Merge(b);

  EXPECT_EQ(a.sent, 4u);
  EXPECT_EQ(a.latency, (std::vector<double>{2, 4}));
  EXPECT_EQ(a.service, (std::vector<double>{1, 3}));
  EXPECT_EQ(a.queue_wait, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(a.run, (std::vector<double>{0.25, 0.25}));
  EXPECT_EQ(a.overhead, (std::vector<double>{0.75, 2.75}));
  EXPECT_EQ(a.stages.at("ntt"), (std::vector<double>{0.1, 0.1}));
  EXPECT_EQ(a.failures.at("X"), 1u);
  EXPECT_EQ(a.failed_with_delay, 1u) << "that of Y";
}

}  // namespace
}  // namespace proofmill::cli
