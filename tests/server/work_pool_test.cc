#include "server/work_pool.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

TEST(WorkPoolTest, WorkRunsOnAThreadOfThePool) {
  WorkPool pool({.threads = 1, .queue_max = 1});
  std::promise<std::thread::id> ran;
  ASSERT_TRUE(pool.TryRun([&] { ran.set_value(std::this_thread::get_id()); }));
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(WorkPoolTest, AFullQueueRefuses) {
  std::atomic<int> depth{0};
  std::promise<void> started, gate;
  auto opened = gate.get_future().share();
  {
    WorkPool pool({.threads = 1, .queue_max = 2}, [&](int change) { depth += change; });
    ASSERT_TRUE(pool.TryRun([&] {
      started.set_value();
      opened.wait();
    }));
    started.get_future().wait();
    EXPECT_TRUE(pool.TryRun([] {}));
    EXPECT_TRUE(pool.TryRun([] {}));
    EXPECT_EQ(depth, 2);
    EXPECT_FALSE(pool.TryRun([] { FAIL() << "refused work must not run"; }));
    gate.set_value();
  }
  EXPECT_EQ(depth, 0);
}

TEST(WorkPoolTest, TheEndWaitsForWhatWasTaken) {
  std::atomic<int> done{0};
  {
    WorkPool pool({.threads = 3, .queue_max = 100});
    for (int i = 0; i < 100; ++i) {
      while (!pool.TryRun([&] { ++done; })) std::this_thread::yield();
    }
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace proofmill::server
