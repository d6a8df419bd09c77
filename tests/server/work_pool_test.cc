#include "server/work_pool.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

using ::testing::ElementsAre;

// Work that must not be refused once it was taken.
bool TryRun(WorkPool& pool, std::string_view owner, std::function<void()> run) {
  return pool.TryRun(owner,
                     {.run = std::move(run), .refuse = [] { FAIL() << "refused after it was taken"; }});
}

TEST(WorkPoolTest, WorkRunsOnAThreadOfThePool) {
  WorkPool pool({.threads = 1, .queue_max = 1});
  std::promise<std::thread::id> ran;
  ASSERT_TRUE(TryRun(pool, "", [&] { ran.set_value(std::this_thread::get_id()); }));
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(WorkPoolTest, AFullQueueRefuses) {
  std::atomic<int> depth{0};
  std::promise<void> started, gate;
  auto opened = gate.get_future().share();
  {
    WorkPool pool({.threads = 1, .queue_max = 2}, [&](int change) { depth += change; });
    ASSERT_TRUE(TryRun(pool, "", [&] {
      started.set_value();
      opened.wait();
    }));
    started.get_future().wait();
    EXPECT_TRUE(TryRun(pool, "", [] {}));
    EXPECT_TRUE(TryRun(pool, "", [] {}));
    EXPECT_EQ(depth, 2);
    EXPECT_FALSE(TryRun(pool, "", [] { FAIL() << "refused work must not run"; }));
    gate.set_value();
  }
  EXPECT_EQ(depth, 0);
}

// A pool of one thread that is at work until the gate is opened.
class WorkPoolOwnersTest : public ::testing::Test {
 protected:
  ~WorkPoolOwnersTest() override {
    if (gate_ != nullptr) Open();
  }
  void Start(size_t queue_max) {
    gate_ = std::make_unique<std::promise<void>>();
    pool_ = std::make_unique<WorkPool>(WorkPool::Options{.threads = 1, .queue_max = queue_max},
                                       [this](int change) { depth_ += change; });
    std::promise<void> started;
    ASSERT_TRUE(TryRun(*pool_, "other", [&started, opened = gate_->get_future().share()] {
      started.set_value();
      opened.wait();
    }));
    started.get_future().wait();
  }
  bool Add(const std::string& owner, const std::string& name) {
    return pool_->TryRun(owner, {.run = [this, name] { ran_.push_back(name); },
                                 .refuse = [this, name] { refused_.push_back(name); }});
  }
  // What ran, in order, to the end.
  std::vector<std::string> Open() {
    gate_->set_value();
    gate_.reset();
    pool_.reset();
    return ran_;
  }

  std::atomic<int> depth_{0};
  std::vector<std::string> ran_;      // by the one thread of the pool
  std::vector<std::string> refused_;  // by the thread of the test
  std::unique_ptr<std::promise<void>> gate_;
  std::unique_ptr<WorkPool> pool_;
};

TEST_F(WorkPoolOwnersTest, OwnersTakeTurns) {
  Start(10);
  for (const char* const name : {"a1", "a2", "a3"}) ASSERT_TRUE(Add("a", name));
  for (const char* const name : {"b1", "b2"}) ASSERT_TRUE(Add("b", name));
  ASSERT_TRUE(Add("c", "c1"));
  EXPECT_THAT(Open(), ElementsAre("a1", "b1", "c1", "a2", "b2", "a3"));
}

TEST_F(WorkPoolOwnersTest, WhoeverHasTheMostWaitingMakesRoom) {
  Start(4);
  for (const char* const name : {"a1", "a2", "a3", "a4"}) ASSERT_TRUE(Add("a", name));
  EXPECT_FALSE(Add("a", "a5")) << "for oneself there is no room to be made";

  EXPECT_TRUE(Add("b", "b1"));
  EXPECT_TRUE(Add("b", "b2"));
  EXPECT_THAT(refused_, ElementsAre("a4", "a3"));
  EXPECT_FALSE(Add("b", "b3")) << "both have as much";
  EXPECT_FALSE(Add("a", "a6"));
  EXPECT_TRUE(Add("c", "c1"));
  EXPECT_THAT(refused_, ElementsAre("a4", "a3", "a2"));

  EXPECT_EQ(depth_, 4);
  EXPECT_THAT(Open(), ElementsAre("a1", "b1", "c1", "b2"));
  EXPECT_EQ(depth_, 0);
}

TEST(WorkPoolTest, TheEndWaitsForWhatWasTaken) {
  std::atomic<int> done{0};
  {
    WorkPool pool({.threads = 3, .queue_max = 100});
    for (int i = 0; i < 100; ++i) {
      while (!TryRun(pool, "", [&] { ++done; })) std::this_thread::yield();
    }
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace proofmill::server
