// Spare turns: what the queue gives a device that nobody wants.

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "engine/base/cancellation.h"
#include "engine/dispatch/job_queue.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::seconds;

// Two devices of two workers each.
class SpareTurnTest : public testing::Test {
 protected:
  SpareTurnTest() : pairs_({.workers = 4, .aging = seconds(10), .workers_per_device = 2}, clock_) {
    for (const size_t worker : {size_t{0}, size_t{2}}) pairs_.SetSpareDue(worker, clock_.Now() + seconds(5));
  }
  JobPtr Make() { return FakeJob(clock_.Now()); }
  // The device of `worker` begins its spare turn.
  void Begin(size_t worker, CancellationToken& cancel) {
    clock_.Advance(seconds(5));
    const JobQueue::Turn turn = pairs_.PopOrSpare(worker, cancel);
    ASSERT_TRUE(turn.spare);
    ASSERT_EQ(turn.job, nullptr);
  }
  // Whether a spare turn on worker 0 is cancelled by a job that `worker` takes, which is asleep.
  bool CancelledByAJobOf(size_t worker) {
    // That it is asleep cannot be seen, so it is given more and more time for it.
    for (int attempt = 0; attempt < 8; ++attempt) {
      CancellationToken cancel;
      Begin(0, cancel);
      JobPtr taken;
      std::thread sleeper([&] { taken = pairs_.Pop(worker); });
      std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
      EXPECT_TRUE(pairs_.Push(Make()).ok());
      sleeper.join();
      EXPECT_NE(taken, nullptr);
      pairs_.Done(worker);
      pairs_.EndSpareTurn(0);
      if (cancel.Check().ok()) return false;
    }
    return true;
  }

  FakeClock clock_;
  JobQueue pairs_;
  CancellationToken cancel_;
};

TEST_F(SpareTurnTest, ComesWhenItIsDueAndNotBefore) {
  std::atomic<bool> begun{false};
  std::thread worker([&] { begun = pairs_.PopOrSpare(1, cancel_).spare; });
  clock_.Advance(seconds(4));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(begun);
  clock_.Advance(seconds(1));
  worker.join();
  EXPECT_TRUE(begun);
  EXPECT_TRUE(cancel_.Check().ok());
}

TEST_F(SpareTurnTest, JobsComeFirst) {
  clock_.Advance(seconds(5));
  const JobPtr job = Make();
  ASSERT_TRUE(pairs_.Push(job).ok());
  EXPECT_EQ(pairs_.PopOrSpare(0, cancel_).job, job);
}

TEST_F(SpareTurnTest, ADeviceHasOneAtATimeAndNoneBesideAJob) {
  Begin(0, cancel_);
  CancellationToken other;
  std::thread sibling([&] { EXPECT_FALSE(pairs_.PopOrSpare(1, other).spare); });
  Begin(2, other);
  const JobPtr job = Make();
  ASSERT_TRUE(pairs_.Push(job).ok());
  sibling.join();  // with the job
  pairs_.EndSpareTurn(0);
  std::thread waits([&] { EXPECT_FALSE(pairs_.PopOrSpare(0, other).spare) << "the other worker has a job"; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pairs_.Done(1);
  pairs_.Close();
  waits.join();
}

TEST_F(SpareTurnTest, IsCancelledByAJobThatNobodyElseTakes) {
  Begin(0, cancel_);
  CancellationToken other;
  Begin(2, other);
  EXPECT_TRUE(cancel_.Check().ok());
  ASSERT_TRUE(pairs_.Push(Make()).ok());
  EXPECT_TRUE(absl::IsCancelled(cancel_.Check()));
  EXPECT_TRUE(absl::IsCancelled(other.Check()));
}

TEST_F(SpareTurnTest, IsCancelledByAJobOnTheSameDeviceAndByNoneElsewhere) {
  EXPECT_TRUE(CancelledByAJobOf(1));
  EXPECT_FALSE(CancelledByAJobOf(2));
}

TEST_F(SpareTurnTest, IsCancelledByAJobThatComesBackForTheDevice) {
  const JobPtr job = Make();
  ASSERT_TRUE(pairs_.Push(job).ok());
  ASSERT_EQ(pairs_.TryPop(2), job);
  Begin(0, cancel_);
  ASSERT_TRUE(pairs_.Requeue(2, job));
  EXPECT_TRUE(absl::IsCancelled(cancel_.Check()));
}

TEST_F(SpareTurnTest, ComesAgainAtOnceUntilItIsPutOff) {
  Begin(0, cancel_);
  pairs_.EndSpareTurn(0);
  CancellationToken again;
  EXPECT_TRUE(pairs_.PopOrSpare(1, again).spare);
  pairs_.EndSpareTurn(1);
  pairs_.SetSpareDue(1, clock_.Now() + seconds(1));
  std::atomic<bool> begun{false};
  std::thread worker([&] { begun = pairs_.PopOrSpare(0, again).spare; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(begun);
  clock_.Advance(seconds(1));
  worker.join();
  EXPECT_TRUE(begun);
}

TEST_F(SpareTurnTest, EndsWithTheQueueAndWithTheSpareTime) {
  Begin(0, cancel_);
  pairs_.EndSpareTime();
  EXPECT_TRUE(absl::IsCancelled(cancel_.Check()));
  pairs_.EndSpareTurn(0);
  CancellationToken none;
  std::thread worker([&] { EXPECT_FALSE(pairs_.PopOrSpare(0, none).spare); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pairs_.Close();
  worker.join();

  JobQueue queue({.workers = 1, .aging = seconds(1)}, clock_);
  queue.SetSpareDue(0, clock_.Now());
  ASSERT_TRUE(queue.PopOrSpare(0, none).spare);
  queue.Close();
  EXPECT_TRUE(absl::IsCancelled(none.Check()));
}

TEST_F(SpareTurnTest, WhoStandsByHasNoneBeforeItProves) {
  JobQueue queue({.workers = 3, .aging = seconds(10), .standby_workers = 1}, clock_);
  queue.SetSpareDue(2, clock_.Now());
  CancellationToken cancel;
  std::atomic<bool> spare{false};
  std::thread standby([&] { spare = queue.PopOrSpare(2, cancel).spare; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(spare);
  queue.RemoveWorker(0);
  queue.RemoveWorker(1);
  standby.join();
  EXPECT_TRUE(spare);
}

}  // namespace
}  // namespace proofmill::engine
