#include "engine/base/clock.h"

#include <thread>

#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"

namespace proofmill::engine {
namespace {

TEST(ClockTest, TheRealClockWaitsUntilItsDeadline) {
  Clock& clock = Clock::Real();
  Mutex mu;
  CondVar cv;
  const Clock::time_point deadline = clock.Now() + std::chrono::milliseconds(2);

  MutexLock lock(mu);
  while (clock.Now() < deadline) clock.WaitUntil(cv, mu, deadline);

  EXPECT_GE(clock.Now(), deadline);
}

TEST(ClockTest, WaitingWithoutADeadlineEndsWithANotification) {
  Mutex mu;
  CondVar cv;
  bool done = false;
  std::thread other([&] {
    MutexLock lock(mu);
    done = true;
    cv.NotifyAll();
  });

  {
    MutexLock lock(mu);
    while (!done) Clock::Real().WaitUntil(cv, mu, Clock::time_point::max());
  }

  other.join();
  EXPECT_TRUE(done);
}

TEST(ClockTest, AThreadThatWaitsForAFakeClockWakesWhenItIsTurned) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  const Clock::time_point deadline = clock.Now() + std::chrono::hours(5);
  std::thread waiter([&] {
    MutexLock lock(mu);
    while (clock.Now() < deadline) clock.WaitUntil(cv, mu, deadline);
  });

  clock.Advance(std::chrono::hours(5));

  waiter.join();
  EXPECT_EQ(clock.Now(), deadline);
}

}  // namespace
}  // namespace proofmill::engine
