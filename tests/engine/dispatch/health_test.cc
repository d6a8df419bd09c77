#include "engine/dispatch/health.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

CircuitRegistry::Counts Counts(size_t loading, size_t ready, size_t failed, uint64_t changes) {
  return {.loading = loading, .ready = ready, .failed = failed, .changes = changes};
}

TEST(HealthTest, BecomesReadyWithADeviceAndACircuit) {
  Health health;
  EXPECT_TRUE(health.status().live);
  EXPECT_FALSE(health.status().ready);

  health.SetDevice("cpu", true, "");
  health.SetCircuits(Counts(1, 1, 0, 1));
  EXPECT_FALSE(health.status().started);
  EXPECT_FALSE(health.status().ready) << "a circuit is still being loaded";
  EXPECT_EQ(health.status().why_not_ready, "circuits are being loaded");

  health.SetCircuits(Counts(0, 1, 1, 2));
  EXPECT_TRUE(health.status().started);
  EXPECT_TRUE(health.status().ready) << "one failed circuit does not stop the others";
}

TEST(HealthTest, IsNotReadyWithoutAReadyCircuit) {
  Health health;
  health.SetDevice("cpu", true, "");
  health.SetCircuits(Counts(0, 0, 2, 1));

  EXPECT_TRUE(health.status().started);
  EXPECT_FALSE(health.status().ready);
  EXPECT_EQ(health.status().why_not_ready, "no circuit is ready, 2 failed");
}

TEST(HealthTest, StaysReadyAsLongAsOneDeviceIsUp) {
  Health health;
  health.SetCircuits(Counts(0, 1, 0, 1));
  health.SetDevice("cuda:0", true, "");
  health.SetDevice("cuda:1", true, "");

  health.SetDevice("cuda:0", false, "lost");
  EXPECT_TRUE(health.status().ready);
  EXPECT_TRUE(health.status().live);

  health.SetDevice("cuda:1", false, "");
  EXPECT_FALSE(health.status().ready);
  EXPECT_FALSE(health.status().live) << "only a new process can help";
  EXPECT_EQ(health.status().why_not_ready, "no device is up; cuda:0: lost; cuda:1: down");
}

TEST(HealthTest, ADrainingProcessIsNotReadyButLives) {
  Health health;
  health.SetDevice("cpu", true, "");
  health.SetCircuits(Counts(0, 1, 0, 1));

  health.SetDraining();

  EXPECT_FALSE(health.status().ready);
  EXPECT_TRUE(health.status().live);
  EXPECT_TRUE(health.status().draining);
  EXPECT_EQ(health.status().why_not_ready, "draining");
}

TEST(HealthTest, CountsThatComeLateAreLeftAlone) {
  Health health;
  health.SetDevice("cpu", true, "");
  health.SetCircuits(Counts(0, 2, 0, 7));

  health.SetCircuits(Counts(1, 0, 0, 6));

  EXPECT_TRUE(health.status().ready);
}

TEST(HealthTest, AListenerHearsThePresentStatusAndEveryChange) {
  Health health;
  health.SetDevice("cpu", true, "");
  std::vector<bool> ready;
  health.AddListener([&](const HealthStatus& status) { ready.push_back(status.ready); });
  EXPECT_EQ(ready, std::vector<bool>({false}));

  health.SetCircuits(Counts(0, 1, 0, 1));
  health.SetDevice("cpu", true, "");  // nothing new
  health.SetDraining();

  EXPECT_EQ(ready, std::vector<bool>({false, true, false}));
}

TEST(HealthTest, AListenerMayAskForTheStatus) {
  Health health;
  bool same = false;
  health.AddListener([&](const HealthStatus& status) { same = status == health.status(); });
  EXPECT_TRUE(same) << "no lock is held";
}

TEST(HealthTest, UnderManyChangesTheLastStatusHeardIsTheRightOne) {
  Health health;
  health.SetCircuits(Counts(0, 1, 0, 1));
  HealthStatus last;
  int overlapping = 0;
  health.AddListener([&](const HealthStatus& status) {
    EXPECT_EQ(overlapping++, 0);
    last = status;
    --overlapping;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&health, t] {
      const std::string device = "cuda:" + std::to_string(t);
      for (int i = 0; i < 300; ++i) health.SetDevice(device, i % 2 == 0, "");
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(last, health.status());
  EXPECT_FALSE(last.ready);
}

}  // namespace
}  // namespace proofmill::engine
