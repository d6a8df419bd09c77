#include "server/memory_budget.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace proofmill::server {
namespace {

using ::testing::HasSubstr;

class MemoryBudgetTest : public ::testing::Test {
 protected:
  nlohmann::json Told(const MemoryBudget& budget, const std::optional<engine::HostMemoryLimit>& limit) {
    std::stringstream text;
    TellMemoryBudget(budget, limit, *Log::ToStream(text, LogLevel::kDebug));
    return text.str().empty() ? nlohmann::json() : nlohmann::json::parse(text.str());
  }
};

TEST_F(MemoryBudgetTest, BoundsAndKeysAreAddedUp) {
  std::string folder = ::testing::TempDir() + "memory_budget_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directory(folder + "/b");
  std::ofstream(folder + "/a.zkey") << std::string(1000, 'x');
  std::ofstream(folder + "/b/circuit.zkey") << std::string(500, 'x');
  std::ofstream(folder + "/c.whir.json") << std::string(100, 'x');
  Config config;
  config.circuits = folder;
  config.queue_witness_bytes_max.bytes = 10;
  config.upload_bytes_max.bytes = 200;
  config.grpc_memory_bytes_max.bytes = 3000;

  const MemoryBudget budget = PlanMemory(config);

  EXPECT_EQ(budget.keys, 3u * 1500);
  EXPECT_EQ(budget.total(), 10u + 200 + 3000 + 4500);
  config.circuits = folder + "/nothing";
  EXPECT_EQ(PlanMemory(config).total(), 3210u);
  config.queue_witness_bytes_max.bytes = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(PlanMemory(config).total(), std::numeric_limits<uint64_t>::max());
  std::filesystem::remove_all(folder);
}

// S9: the limit of the container is below what the service may come to need.
TEST_F(MemoryBudgetTest, ALimitBelowTheBudgetIsAWarningWithTheNumbers) {
  const MemoryBudget budget{.queue_witness = 500, .uploads = 300, .grpc = 150, .keys = 50};

  const nlohmann::json warning = Told(budget, engine::HostMemoryLimit{999, "/sys/fs/cgroup/memory.max"});

  EXPECT_EQ(warning["event"], "memory_budget");
  EXPECT_EQ(warning["level"], "warn");
  EXPECT_EQ(warning["needed_bytes"], 1000);
  EXPECT_EQ(warning["limit_bytes"], 999);
  EXPECT_EQ(warning["queue_witness_bytes_max"], 500);
  EXPECT_EQ(warning["keys_bytes"], 50);
  EXPECT_THAT(std::string(warning["message"]), HasSubstr("expected 1000 bytes or more"));
  EXPECT_THAT(std::string(warning["message"]), HasSubstr("got 999 by /sys/fs/cgroup/memory.max"));
}

TEST_F(MemoryBudgetTest, ALimitThatIsEnoughIsToldAndNoneSaysNothing) {
  const MemoryBudget budget{.queue_witness = 500, .uploads = 300, .grpc = 150, .keys = 50};
  EXPECT_EQ(Told(budget, engine::HostMemoryLimit{1000, "/proc/meminfo"})["level"], "info");
  EXPECT_TRUE(Told(budget, std::nullopt).is_null());
}

}  // namespace
}  // namespace proofmill::server
