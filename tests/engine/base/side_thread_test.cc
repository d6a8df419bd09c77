#include "engine/base/side_thread.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

TEST(SideThreadTest, WorksBesideTheCaller) {
  SideThread side;
  std::atomic<bool> released{false};
  std::thread::id worker;
  const auto work = [&] {
    while (!released) std::this_thread::yield();
    worker = std::this_thread::get_id();
  };

  ASSERT_TRUE(side.Start(work));
  released = true;  // would never be reached if Start() ran the work itself
  side.Wait();

  EXPECT_NE(worker, std::thread::id());
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(SideThreadTest, IsTheSameThreadEveryTime) {
  SideThread side;
  std::vector<std::thread::id> workers;
  const auto work = [&] { workers.push_back(std::this_thread::get_id()); };

  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(side.Start(work));
    side.Wait();
  }

  EXPECT_EQ(workers, std::vector<std::thread::id>(100, workers[0]));
}

TEST(SideThreadTest, WaitingWithoutWorkReturns) {
  SideThread side;
  side.Wait();
  const auto work = [] {};
  ASSERT_TRUE(side.Start(work));
  side.Wait();
  side.Wait();
}

TEST(SideThreadTest, TheEndWaitsForTheWork) {
  std::atomic<bool> done{false};
  const auto work = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    done = true;
  };
  {
    SideThread side;
    ASSERT_TRUE(side.Start(work));
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace proofmill::engine
