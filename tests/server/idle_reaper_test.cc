#include "server/idle_reaper.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"

namespace proofmill::server {
namespace {

using std::chrono::milliseconds;

class CountingIdler final : public Idler {
 public:
  void EndIdle(engine::Clock::time_point now) override {
    last_now = now.time_since_epoch().count();
    ++sweeps;
  }
  std::atomic<int> sweeps{0};
  std::atomic<int64_t> last_now{0};
};

TEST(IdleReaperTest, ASweepLooksAtEverythingThatIsStillThere) {
  engine::FakeClock clock;
  IdleReaper reaper(std::chrono::hours(1), clock);
  const auto stays = std::make_shared<CountingIdler>();
  auto goes = std::make_shared<CountingIdler>();
  reaper.Add(stays);
  reaper.Add(goes);
  reaper.Sweep();
  EXPECT_EQ(goes->sweeps, 1);
  goes.reset();
  reaper.Sweep();

  EXPECT_EQ(stays->sweeps, 2);
  EXPECT_EQ(stays->last_now, clock.Now().time_since_epoch().count());
}

TEST(IdleReaperTest, TheThreadSweepsWhenThePeriodHasPassed) {
  engine::FakeClock clock;
  IdleReaper reaper(milliseconds(500), clock);
  const auto idler = std::make_shared<CountingIdler>();
  reaper.Add(idler);
  // The thread may read the clock before or after a turn, so it is turned until it has noticed.
  while (idler->sweeps < 3) {
    clock.Advance(milliseconds(500));
    std::this_thread::yield();
  }
  EXPECT_GE(idler->sweeps, 3);
}

}  // namespace
}  // namespace proofmill::server
