#include "engine/dispatch/fair_order.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/dispatch/job_queue.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::seconds;

// One worker that works through what several tenants want.
class FairShareTest : public testing::Test {
 protected:
  FairShareTest() : queue_({.workers = 1, .aging = seconds(10)}, clock_) {}

  struct Ask {
    std::string tenant;
    Clock::duration expected = seconds(1);
    double weight = 1;
    Priority priority = Priority::kNormal;
    size_t slots = 1;
  };
  JobPtr Make(const Ask& ask) {
    return FakeJob(clock_.Now(), {.priority = ask.priority,
                                  .tenant = ask.tenant,
                                  .weight = ask.weight,
                                  .expected_run = ask.expected,
                                  .slots = ask.slots});
  }
  JobPtr Push(const Ask& ask) {
    const JobPtr job = Make(ask);
    EXPECT_TRUE(queue_.Push(job).ok());
    return job;
  }
  // Takes the next job and lets it run; its tenant.
  std::string RunOne(Clock::duration run_time = seconds(1)) {
    const JobPtr job = queue_.TryPop(0);
    if (job == nullptr) return "";
    clock_.Advance(run_time);
    queue_.Done(0);
    return job->tenant();
  }

  FakeClock clock_;
  JobQueue queue_;
};

TEST_F(FairShareTest, AModestTenantIsNotHeldUpByTheBacklogOfAGreedyOne) {
  for (int i = 0; i < 50; ++i) Push({.tenant = "greedy"});
  RunOne();
  const JobPtr modest = Push({.tenant = "modest"});

  EXPECT_LE(*queue_.JobsAhead(*modest), 1u);
  EXPECT_LE(queue_.EstimatedWait(Priority::kNormal, seconds(1), "another"), seconds(2));
  EXPECT_GE(queue_.EstimatedWait(Priority::kNormal, seconds(1), "greedy"), seconds(49));
  const std::string first = RunOne(), second = RunOne();
  EXPECT_TRUE(first == "modest" || second == "modest");
}

TEST_F(FairShareTest, TenantsThatAllWantMoreGetTimeByTheirWeights) {
  for (int i = 0; i < 200; ++i) {
    Push({.tenant = "one", .weight = 1});
    Push({.tenant = "three", .weight = 3});
  }
  std::map<std::string, int> taken;
  for (int i = 0; i < 100; ++i) ++taken[RunOne()];

  EXPECT_NEAR(taken["three"], 75, 1);
}

TEST_F(FairShareTest, TimeCountsAndNotJobsEvenIfItWasNotExpected) {
  // Both expect a second for each job; those of one take four, as bad witnesses do that cost a second look.
  for (int i = 0; i < 200; ++i) {
    Push({.tenant = "bad"});
    Push({.tenant = "good"});
  }
  std::map<std::string, Clock::duration> time;
  std::map<std::string, int> taken;
  for (int i = 0; i < 100; ++i) {
    const JobPtr job = queue_.TryPop(0);
    const Clock::duration run = seconds(job->tenant() == "bad" ? 4 : 1);
    clock_.Advance(run);
    queue_.Done(0);
    time[job->tenant()] += run;
    ++taken[job->tenant()];
  }

  EXPECT_NEAR(std::chrono::duration<double>(time["good"]).count(),
              std::chrono::duration<double>(time["bad"]).count(), 8);
  EXPECT_GE(taken["good"], 78);
}

TEST_F(FairShareTest, AJobIsChargedForTheSlotsThatItTakesUp) {
  JobQueue device({.workers = 4, .aging = seconds(10), .workers_per_device = 4}, clock_);
  const auto push = [&](const Ask& ask) { EXPECT_TRUE(device.Push(Make(ask)).ok()); };
  for (int i = 0; i < 200; ++i) {
    push({.tenant = "large", .slots = 3});
    push({.tenant = "small"});
  }
  std::map<std::string, int> taken;
  for (int i = 0; i < 100; ++i) {
    const JobPtr job = device.TryPop(0);
    ASSERT_NE(job, nullptr);
    clock_.Advance(seconds(1));
    device.Done(0);
    ++taken[job->tenant()];
  }
  EXPECT_NEAR(taken["small"], 75, 1);
}

TEST_F(FairShareTest, WhoWasAwayGetsNothingForThatAndWhoComesBackDoesNotEscapeADebt) {
  for (int i = 0; i < 20; ++i) Push({.tenant = "busy"});
  for (int i = 0; i < 10; ++i) RunOne();
  for (int i = 0; i < 10; ++i) Push({.tenant = "late"});
  std::map<std::string, int> taken;
  for (int i = 0; i < 10; ++i) ++taken[RunOne()];
  EXPECT_NEAR(taken["late"], 5, 1) << "ten seconds of the other one are past and gone";

  // One job that takes far longer than it said, and then its tenant pretends to be new.
  Push({.tenant = "heavy"});
  while (true) {
    const JobPtr job = queue_.TryPop(0);
    const bool heavy = job->tenant() == "heavy";
    clock_.Advance(seconds(heavy ? 5 : 1));
    queue_.Done(0);
    if (heavy) break;
  }
  Push({.tenant = "heavy"});
  for (int i = 0; i < 10; ++i) Push({.tenant = "busy"});
  EXPECT_NE(RunOne(), "heavy");
  EXPECT_NE(RunOne(), "heavy");
}

TEST_F(FairShareTest, PrioritiesOrderTheJobsOfOneTenantOnly) {
  Push({.tenant = "a"});
  const JobPtr high = Push({.tenant = "a", .priority = Priority::kHigh});
  Push({.tenant = "b", .priority = Priority::kLow});

  EXPECT_EQ(queue_.JobsAhead(*high), 0u);
  const std::string first = RunOne(), second = RunOne();
  EXPECT_NE(first, second) << "a low job of another tenant is not behind all of the first one's";
}

TEST_F(FairShareTest, AJobThatIsPutBackIsChargedOnce) {
  JobQueue two({.workers = 2, .aging = seconds(10)}, clock_);
  const auto push = [&](const std::string& tenant) {
    auto job = FakeJob(clock_.Now(), {.tenant = tenant, .expected_run = seconds(1)});
    EXPECT_TRUE(two.Push(job).ok());
    return job;
  };
  const JobPtr spoiled = push("a"), other = push("b");
  ASSERT_EQ(two.TryPop(0), spoiled);
  ASSERT_TRUE(two.Requeue(0, spoiled));

  EXPECT_EQ(two.TryPop(1), spoiled) << "it is as if it had not been taken";
  EXPECT_EQ(two.TryPop(0), other);
  two.Done(0);
  two.Done(1);
  EXPECT_EQ(two.size(), 0u);
}

TEST_F(FairShareTest, ManyTenantsOfOneJobEachAreServedInTheOrderOfTheirComing) {
  std::vector<std::string> names, order;
  for (int i = 0; i < 300; ++i) {
    names.push_back(absl::StrCat("t", (i * 7919) % 1000));
    Push({.tenant = names.back()});
    clock_.Advance(std::chrono::milliseconds(1));
  }
  for (int i = 0; i < 300; ++i) order.push_back(RunOne());

  EXPECT_EQ(order, names);
  EXPECT_EQ(queue_.Backlog(seconds(1)), seconds(0));
}

}  // namespace
}  // namespace proofmill::engine
