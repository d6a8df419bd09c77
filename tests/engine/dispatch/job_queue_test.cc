#include "engine/dispatch/job_queue.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::seconds;

class JobQueueTest : public testing::Test {
 protected:
  JobQueueTest() : queue_({.workers = 2, .aging = seconds(10)}, clock_) {}

  JobPtr Make(Priority priority = Priority::kNormal, Clock::duration expected_run = Clock::duration{0},
              size_t slots = 1) {
    return FakeJob(clock_.Now(), {.priority = priority, .expected_run = expected_run, .slots = slots});
  }
  // A job that is in the queue.
  JobPtr Push(Priority priority = Priority::kNormal, Clock::duration expected_run = Clock::duration{0}) {
    JobPtr job = Make(priority, expected_run);
    EXPECT_TRUE(queue_.Push(job).ok());
    return job;
  }
  // Pops and ends one job on worker 0.
  JobPtr TakeOne() {
    JobPtr job = queue_.TryPop(0);
    queue_.Done(0);
    return job;
  }

  FakeClock clock_;
  JobQueue queue_;
};

TEST_F(JobQueueTest, WithinALevelTheFirstComesFirst) {
  const JobPtr first = Push(), second = Push(), third = Push();

  EXPECT_EQ(TakeOne(), first);
  EXPECT_EQ(TakeOne(), second);
  EXPECT_EQ(TakeOne(), third);
  EXPECT_EQ(queue_.TryPop(0), nullptr);
}

TEST_F(JobQueueTest, AHigherLevelOvertakesALowerOne) {
  const JobPtr low = Push(Priority::kLow), normal = Push(Priority::kNormal), high = Push(Priority::kHigh);

  EXPECT_EQ(TakeOne(), high);
  EXPECT_EQ(TakeOne(), normal);
  EXPECT_EQ(TakeOne(), low);
}

TEST_F(JobQueueTest, AJobThatHasWaitedLongEnoughIsNotOvertakenAnyMore) {
  const JobPtr low = Push(Priority::kLow);
  clock_.Advance(seconds(10) - std::chrono::milliseconds(1));
  const JobPtr normal = Push(Priority::kNormal);
  clock_.Advance(seconds(10) + std::chrono::milliseconds(2));
  const JobPtr late_high = Push(Priority::kHigh), late_normal = Push(Priority::kNormal);

  EXPECT_EQ(TakeOne(), normal) << "it came just in time";
  EXPECT_EQ(TakeOne(), low) << "two levels below, but it has waited two agings";
  EXPECT_EQ(TakeOne(), late_high);
  EXPECT_EQ(TakeOne(), late_normal);
}

TEST_F(JobQueueTest, ALowJobIsNotStarvedByAStreamOfHighOnes) {
  const JobPtr low = Push(Priority::kLow);
  int high_taken = 0;
  for (int second = 0; second < 60; ++second) {
    Push(Priority::kHigh);
    Push(Priority::kHigh);
    if (TakeOne() == low) break;
    ++high_taken;
    clock_.Advance(seconds(1));
  }

  EXPECT_LE(high_taken, 41) << "what came within two agings may go first, at most";
  EXPECT_GE(high_taken, 20);
}

TEST_F(JobQueueTest, ARemovedJobIsNeverHandedOut) {
  const JobPtr first = Push(), second = Push();

  EXPECT_TRUE(queue_.Remove(*first));
  EXPECT_FALSE(queue_.Remove(*first));

  EXPECT_EQ(TakeOne(), second);
  EXPECT_FALSE(queue_.Remove(*second)) << "it was handed out";
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(JobQueueTest, TellsTheLengthOfEachLevelAndThePlaceOfEachJob) {
  const JobPtr low = Push(Priority::kLow), normal = Push(), other = Push(), high = Push(Priority::kHigh);

  EXPECT_EQ(queue_.depth(), (std::array<size_t, kPriorityCount>{1, 2, 1}));
  EXPECT_EQ(queue_.JobsAhead(*high), 0u);
  EXPECT_EQ(queue_.JobsAhead(*normal), 1u);
  EXPECT_EQ(queue_.JobsAhead(*other), 2u);
  EXPECT_EQ(queue_.JobsAhead(*low), 3u);
  TakeOne();
  EXPECT_EQ(queue_.JobsAhead(*high), std::nullopt);
  EXPECT_EQ(queue_.JobsAhead(*low), 2u);
}

TEST_F(JobQueueTest, AClosedQueueRefusesAndHandsOutTheRest) {
  const JobPtr first = Push(), second = Push();
  queue_.Close();
  queue_.Close();

  const absl::Status refused = queue_.Push(Make());
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(GetReason(refused), ErrorReason::kDraining);
  EXPECT_EQ(queue_.Pop(0), first);
  queue_.Done(0);
  EXPECT_EQ(queue_.Pop(0), second);
  queue_.Done(0);
  EXPECT_EQ(queue_.Pop(0), nullptr);
}

TEST_F(JobQueueTest, CloseWakesAWaitingWorker) {
  Latch ended;
  std::thread worker([&] {
    EXPECT_EQ(queue_.Pop(0), nullptr);
    ended.Open();
  });
  queue_.Close();

  EXPECT_TRUE(ended.Wait());
  worker.join();
}

TEST_F(JobQueueTest, PushWakesAWaitingWorker) {
  JobPtr popped;
  std::thread worker([&] { popped = queue_.Pop(0); });
  const JobPtr job = Push();
  worker.join();

  EXPECT_EQ(popped, job);
}

TEST_F(JobQueueTest, AJobThatIsPutBackGoesToAnotherWorkerAndKeepsItsPlace) {
  const JobPtr job = Push(Priority::kHigh);
  Reply reply;
  job->Attach(std::make_shared<Ticket>(std::weak_ptr<Dispatcher>(), Clock::time_point::max(),
                                       Ticket::Callbacks{reply.done(), nullptr}));
  ASSERT_EQ(queue_.TryPop(0), job);
  ASSERT_TRUE(job->Start());
  const JobPtr later = Push(Priority::kHigh);

  ASSERT_TRUE(queue_.Requeue(0, job));

  EXPECT_TRUE(job->WasRequeued());
  EXPECT_EQ(queue_.JobsAhead(*job), 0u);
  EXPECT_EQ(queue_.TryPop(0), later) << "worker 0 must not get it again";
  EXPECT_EQ(queue_.TryPop(1), job);
}

TEST_F(JobQueueTest, WorkersOfOneDeviceShareItsFate) {
  JobQueue queue({.workers = 4, .aging = seconds(10), .workers_per_device = 2}, clock_);
  const JobPtr job = Make();
  job->Attach(std::make_shared<Ticket>(std::weak_ptr<Dispatcher>(), Clock::time_point::max(),
                                       Ticket::Callbacks{Reply().done(), nullptr}));
  ASSERT_TRUE(queue.Push(job).ok());
  ASSERT_EQ(queue.TryPop(1), job);
  ASSERT_TRUE(job->Start());
  const JobPtr beside = Make();
  ASSERT_TRUE(queue.Push(beside).ok());
  ASSERT_EQ(queue.TryPop(0), beside) << "a device runs as many jobs as it has workers";
  EXPECT_EQ(queue.running().size(), 2u);

  ASSERT_TRUE(queue.Requeue(1, job));

  queue.Done(0);
  EXPECT_EQ(queue.TryPop(0), nullptr) << "the device that failed must not get it again";
  ASSERT_EQ(queue.TryPop(2), job);
  const JobPtr waiting = Make();
  ASSERT_TRUE(queue.Push(waiting).ok());
  EXPECT_TRUE(queue.RemoveWorker(3).empty());
  EXPECT_EQ(queue.workers_up(), 2u);
  queue.Done(2);
  EXPECT_EQ(queue.RemoveWorker(0), std::vector<JobPtr>{waiting});
  EXPECT_EQ(queue.workers_up(), 0u);
}

TEST_F(JobQueueTest, AJobIsNotPutBackWhenNobodyElseCouldRunIt) {
  const JobPtr job = Push();
  Reply reply;
  const auto ticket = std::make_shared<Ticket>(std::weak_ptr<Dispatcher>(), Clock::time_point::max(),
                                               Ticket::Callbacks{reply.done(), nullptr});
  job->Attach(ticket);
  ASSERT_EQ(queue_.TryPop(0), job);
  queue_.RemoveWorker(1);

  EXPECT_FALSE(queue_.Requeue(0, job));
  EXPECT_EQ(queue_.size(), 0u);

  const JobPtr unwanted = Make();
  EXPECT_FALSE(queue_.Requeue(0, unwanted)) << "nobody else is there";
}

TEST_F(JobQueueTest, AClosedQueueKeepsWorkersAsLongAsAJobMayBePutBack) {
  const JobPtr job = Push();
  job->Attach(std::make_shared<Ticket>(std::weak_ptr<Dispatcher>(), Clock::time_point::max(),
                                       Ticket::Callbacks{Reply().done(), nullptr}));
  ASSERT_EQ(queue_.Pop(0), job);
  queue_.Close();
  JobPtr popped;
  std::thread other([&] { popped = queue_.Pop(1); });

  ASSERT_TRUE(queue_.Requeue(0, job));
  other.join();

  EXPECT_EQ(popped, job);
  queue_.Done(1);
  EXPECT_EQ(queue_.Pop(0), nullptr);
  EXPECT_EQ(queue_.Pop(1), nullptr);
}

TEST_F(JobQueueTest, WithTheLastWorkerGoTheJobs) {
  const JobPtr first = Push(), second = Push();
  EXPECT_TRUE(queue_.RemoveWorker(0).empty()) << "the other worker is left";
  EXPECT_EQ(queue_.workers_up(), 1u);
  EXPECT_EQ(queue_.TryPop(0), nullptr);

  EXPECT_EQ(queue_.RemoveWorker(1), (std::vector<JobPtr>{first, second}));

  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_EQ(queue_.Pop(1), nullptr);
  const absl::Status refused = queue_.Push(Make());
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(GetReason(refused), ErrorReason::kNoDevice);
}

TEST_F(JobQueueTest, AnIdleQueueHasNoWait) {
  EXPECT_EQ(queue_.EstimatedWait(Priority::kLow, seconds(5)), seconds(0));
  Push(Priority::kNormal, seconds(4));
  EXPECT_EQ(queue_.EstimatedWait(Priority::kLow, seconds(5)), seconds(0)) << "the second worker is free";
}

TEST_F(JobQueueTest, TheWaitIsWhatIsAheadSharedByTheWorkers) {
  Push(Priority::kHigh, seconds(4));
  Push(Priority::kNormal, seconds(6));
  Push(Priority::kNormal);  // time unknown
  Push(Priority::kLow, seconds(20));

  EXPECT_EQ(queue_.EstimatedWait(Priority::kHigh, seconds(2)), seconds(0));
  EXPECT_EQ(queue_.EstimatedWait(Priority::kNormal, seconds(2)), seconds(6));
  EXPECT_EQ(queue_.EstimatedWait(Priority::kLow, seconds(2)), seconds(16));
  EXPECT_EQ(queue_.EstimatedWait(Priority::kNormal, seconds(10)), seconds(10));
}

TEST_F(JobQueueTest, RunningJobsCountForWhatIsLeftOfThem) {
  Push(Priority::kNormal, seconds(10));
  Push(Priority::kNormal, seconds(4));
  queue_.TryPop(0);
  queue_.TryPop(1);
  clock_.Advance(seconds(6));

  EXPECT_EQ(queue_.EstimatedWait(Priority::kNormal, seconds(1)), seconds(2)) << "4 s and nothing, by two";
  queue_.Done(1);
  EXPECT_EQ(queue_.EstimatedWait(Priority::kNormal, seconds(1)), seconds(0));
}

TEST_F(JobQueueTest, WithoutAWorkerTheWaitIsForEver) {
  queue_.RemoveWorker(0);
  queue_.RemoveWorker(1);
  EXPECT_EQ(queue_.EstimatedWait(Priority::kNormal, seconds(1)), Clock::duration::max());
}

TEST_F(JobQueueTest, IdleMeansNothingQueuedAndNothingRunning) {
  EXPECT_TRUE(queue_.WaitUntilIdle(clock_.Now()));
  Push();
  EXPECT_FALSE(queue_.WaitUntilIdle(clock_.Now()));
  queue_.TryPop(0);
  EXPECT_EQ(queue_.running().size(), 1u);
  EXPECT_FALSE(queue_.WaitUntilIdle(clock_.Now()));
  std::thread worker([&] { queue_.Done(0); });

  EXPECT_TRUE(queue_.WaitUntilIdle(clock_.Now() + std::chrono::hours(1)));
  worker.join();
}

TEST_F(JobQueueTest, TakeAllLeavesAnEmptyQueue) {
  const JobPtr low = Push(Priority::kLow), high = Push(Priority::kHigh);

  EXPECT_EQ(queue_.InOrder(), (std::vector<JobPtr>{high, low}));
  EXPECT_EQ(queue_.TakeAll(), (std::vector<JobPtr>{high, low}));
  EXPECT_EQ(queue_.depth(), (std::array<size_t, kPriorityCount>{}));
  EXPECT_EQ(queue_.EstimatedWait(Priority::kLow, seconds(5)), seconds(0));
}

JobPtr RealJob(int i) { return FakeJob(Clock::Real().Now(), {.priority = static_cast<Priority>(i % 3)}); }

TEST(JobQueueThreadsTest, EveryJobIsHandedOutOnceWhoeverPopsIt) {
  JobQueue queue({.workers = 3, .aging = seconds(1)}, Clock::Real());
  constexpr int kJobs = 600;
  std::atomic<int> popped{0};
  std::vector<std::thread> workers;
  for (size_t w = 0; w < 3; ++w) {
    workers.emplace_back([&, w] {
      while (const JobPtr job = queue.Pop(w)) {
        ++popped;
        queue.Done(w);
      }
    });
  }
  for (int i = 0; i < kJobs; ++i) ASSERT_TRUE(queue.Push(RealJob(i)).ok());
  queue.Close();
  for (std::thread& worker : workers) worker.join();

  EXPECT_EQ(popped, kJobs);
}

// One job at a time, so that no later one could wake the worker that an earlier one left asleep; and
// announcements that nothing follows, or too late.
TEST(JobQueueThreadsTest, NoAnnouncementLosesAJob) {
  JobQueue queue({.workers = 3, .aging = seconds(1)}, Clock::Real());
  std::atomic<int> popped{0};
  std::vector<std::thread> workers;
  for (size_t w = 0; w < 3; ++w) {
    workers.emplace_back([&, w] {
      while (const JobPtr job = queue.Pop(w)) {
        queue.Done(w);
        ++popped;
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    for (int announcements = i % 4; announcements > 0; --announcements) queue.Announce();
    if (i % 5 != 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 700));
    ASSERT_TRUE(queue.Push(RealJob(i)).ok());
    if (i == 200) {
      EXPECT_TRUE(queue.RemoveWorker(0).empty()) << "two other devices are left";
    }
    ASSERT_TRUE(queue.WaitUntilIdle(Clock::Real().Now() + seconds(60))) << "job " << i;
  }
  queue.Close();
  for (std::thread& worker : workers) worker.join();

  EXPECT_EQ(popped, 300);
}

// Two workers of two devices, and a third that stands by for them.
class StandbyTest : public JobQueueTest {
 protected:
  StandbyTest() : queue_with_standby_({.workers = 3, .aging = seconds(10), .standby_workers = 1}, clock_) {}
  JobQueue queue_with_standby_;
};

TEST_F(StandbyTest, WhoStandsByGetsJobsOnlyWhenNobodyElseIsLeft) {
  const JobPtr first = Make(), second = Make();
  ASSERT_TRUE(queue_with_standby_.Push(first).ok());
  ASSERT_TRUE(queue_with_standby_.Push(second).ok());
  EXPECT_EQ(queue_with_standby_.workers_up(), 2u);
  EXPECT_EQ(queue_with_standby_.TryPop(2), nullptr);
  EXPECT_TRUE(queue_with_standby_.RemoveWorker(0).empty());
  EXPECT_EQ(queue_with_standby_.TryPop(2), nullptr) << "one is left";

  ASSERT_EQ(queue_with_standby_.TryPop(1), first);
  EXPECT_TRUE(queue_with_standby_.Requeue(1, first)) << "for who stands by";
  EXPECT_TRUE(queue_with_standby_.RemoveWorker(1).empty());

  EXPECT_EQ(queue_with_standby_.workers_up(), 1u);
  EXPECT_EQ(queue_with_standby_.TryPop(2), first);
  queue_with_standby_.Done(2);
  EXPECT_EQ(queue_with_standby_.TryPop(2), second);
  queue_with_standby_.Done(2);
}

// Four workers for one device.
class JobSlotsTest : public JobQueueTest {
 protected:
  JobSlotsTest() : device_({.workers = 4, .aging = seconds(10), .workers_per_device = 4}, clock_) {}

  JobPtr PushOf(size_t slots) {
    JobPtr job = Make(Priority::kNormal, seconds(1), slots);
    EXPECT_TRUE(device_.Push(job).ok());
    return job;
  }

  JobQueue device_;
};

TEST_F(JobSlotsTest, ADeviceGetsNoMoreJobsThanItHasSlotsFor) {
  const JobPtr large = PushOf(2), larger = PushOf(2), small = PushOf(1);

  EXPECT_EQ(device_.TryPop(0), large);
  EXPECT_EQ(device_.TryPop(1), larger);
  EXPECT_EQ(device_.TryPop(2), nullptr);
  device_.Done(1);
  EXPECT_EQ(device_.TryPop(3), small);
}

TEST_F(JobSlotsTest, NobodyGoesBeforeAJobThatWaitsForSlots) {
  const JobPtr first = PushOf(1), whole = PushOf(4), last = PushOf(1);

  EXPECT_EQ(device_.TryPop(0), first);
  EXPECT_EQ(device_.TryPop(1), nullptr) << "the next wants all four slots";
  device_.Done(0);
  EXPECT_EQ(device_.TryPop(1), whole);
  EXPECT_EQ(device_.TryPop(0), nullptr);
  device_.Done(1);
  EXPECT_EQ(device_.TryPop(0), last);
}

TEST_F(JobSlotsTest, WorkersThatFoundNoSlotsAreWokenWhenThereAreSome) {
  const JobPtr whole = PushOf(4);
  ASSERT_EQ(device_.TryPop(0), whole);
  std::vector<std::thread> workers;
  std::atomic<int> taken{0};
  for (size_t worker = 1; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      if (device_.Pop(worker) != nullptr) ++taken;
      while (taken != 3) std::this_thread::yield();  // all at the same time
      device_.Done(worker);
    });
  }
  for (int i = 0; i < 4; ++i) PushOf(1);
  device_.Done(0);
  ASSERT_NE(device_.TryPop(0), nullptr);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(taken, 3);
}

// Sleepers of the full device are no use: one of the other must be woken.
TEST_F(JobSlotsTest, AJobGoesToTheDeviceThatHasSlotsFree) {
  JobQueue devices({.workers = 8, .aging = seconds(10), .workers_per_device = 4}, clock_);
  ASSERT_TRUE(devices.Push(Make(Priority::kNormal, seconds(1), 4)).ok());
  ASSERT_NE(devices.TryPop(0), nullptr);
  std::vector<std::thread> workers;
  std::atomic<int> taken{0};
  for (size_t worker = 1; worker < 8; ++worker) {
    workers.emplace_back([&, worker] {
      while (devices.Pop(worker) != nullptr) {
        EXPECT_GE(worker, 4u);
        ++taken;
        devices.Done(worker);
      }
    });
  }
  for (int i = 1; i <= 200; ++i) {
    ASSERT_TRUE(devices.Push(Make()).ok());
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (taken < i && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(taken, i);
  }
  devices.Done(0);
  devices.Close();
  for (std::thread& worker : workers) worker.join();
}

TEST_F(JobSlotsTest, WaitsAndBacklogCountSlots) {
  PushOf(2);
  EXPECT_EQ(device_.EstimatedWait(Priority::kNormal, seconds(1)), seconds(0)) << "two slots are free";
  EXPECT_EQ(device_.Backlog(seconds(1)), std::chrono::milliseconds(500));
  PushOf(4);
  EXPECT_EQ(device_.EstimatedWait(Priority::kNormal, seconds(1)), std::chrono::milliseconds(1500));
  ASSERT_NE(device_.TryPop(0), nullptr);
  EXPECT_EQ(device_.Backlog(seconds(1)), std::chrono::milliseconds(1500));
}

}  // namespace
}  // namespace proofmill::engine
