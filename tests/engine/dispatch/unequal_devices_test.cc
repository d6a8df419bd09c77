// Devices of which one works on more jobs at a time than another, as a GPU does beside a processor.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/dispatch/engine.h"
#include "engine/dispatch/job_queue.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Device 0 has four slots, device 1 has one.
class UnequalQueueTest : public testing::Test {
 protected:
  UnequalQueueTest()
      : queue_({.workers = 8,
                .aging = seconds(10),
                .workers_per_device = 4,
                .standby_workers = 0,
                .device_slots = {4, 1}},
               clock_) {}

  JobPtr Push(size_t slots) {
    auto job = FakeJob(clock_.Now(), {.expected_run = seconds(1), .slots = slots});
    EXPECT_TRUE(queue_.Push(job).ok());
    return job;
  }
  Clock::duration Wait() { return queue_.EstimatedWait(Priority::kNormal, seconds(1)); }

  FakeClock clock_;
  JobQueue queue_;
};

TEST_F(UnequalQueueTest, AJobThatTakesAShareOfTheOneIsAllThatTheOtherCanDo) {
  const JobPtr large = Push(2), second = Push(2), small = Push(1), last = Push(1);
  EXPECT_EQ(queue_.Backlog(seconds(1)), milliseconds(1200));
  EXPECT_EQ(Wait(), milliseconds(1200));

  EXPECT_EQ(queue_.TryPop(4), large) << "as long as it has no other";
  EXPECT_EQ(queue_.TryPop(5), nullptr) << "it has one slot";
  EXPECT_EQ(queue_.Backlog(seconds(1)), seconds(1)) << "the large one takes up one slot there";
  EXPECT_EQ(queue_.TryPop(0), second);
  EXPECT_EQ(queue_.TryPop(1), small);
  queue_.Done(4);
  EXPECT_EQ(queue_.TryPop(5), last);
  EXPECT_EQ(queue_.TryPop(4), nullptr);
  EXPECT_EQ(Wait(), seconds(0)) << "the large device has one slot left";
}

TEST_F(UnequalQueueTest, SlotsAreFreeAgainAfterAJobThatWasPutBack) {
  const JobPtr large = Push(3);
  ASSERT_EQ(queue_.TryPop(4), large);
  ASSERT_TRUE(queue_.Requeue(4, large));
  const JobPtr small = Push(1);

  EXPECT_EQ(queue_.TryPop(0), large);
  EXPECT_EQ(queue_.TryPop(5), small);
}

TEST_F(UnequalQueueTest, WaitsAndBacklogAreThoseOfTheDevicesThatAreLeft) {
  for (int i = 0; i < 3; ++i) Push(1);
  EXPECT_TRUE(queue_.RemoveWorker(0).empty());
  EXPECT_EQ(queue_.Backlog(seconds(1)), seconds(3));
  EXPECT_EQ(Wait(), seconds(3));
}

TEST(UnequalEngineTest, ADeviceThatTakesOverGetsNoMoreJobsThanItWorksOn) {
  FakeClock clock;
  CircuitFolder folder;
  folder.AddKey("mul3", "mul3");
  CountingObserver observer;
  std::atomic<int> at_work{0}, most{0};
  std::vector<std::unique_ptr<JobRunner>> runners;
  runners.push_back(std::make_unique<FakeRunner>(
      "fake:gpu",
      [](const Circuit&, absl::Span<const kernels::U256>, const RunContext&) {
        return FaultyRun(DeviceErrorClass::kSticky, true);
      },
      8));
  runners.push_back(std::make_unique<FakeRunner>(
      "fake:cpu",
      [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
        most = std::max(most.load(), ++at_work);
        clock.Advance(seconds(1));
        --at_work;
        return EchoRun(witness);
      },
      1));
  EngineOptions options;
  options.standby_runners = 1;
  options.circuits.directory = folder.path();
  const auto engine = Engine::Start(options, std::move(runners), observer, clock);
  ASSERT_TRUE(engine.ok()) << engine.status();
  ASSERT_TRUE((*engine)->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));

  const Reply replies[12];
  for (const Reply& reply : replies) {
    ProveRequest request;
    request.circuit = "mul3";
    request.witness = CaseWitness("mul3");
    ASSERT_TRUE((*engine)->Submit(std::move(request), reply.done(), reply.progress()).ok());
  }

  for (const Reply& reply : replies) {
    const auto result = reply.Wait();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->device, "fake:cpu");
  }
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace proofmill::engine
