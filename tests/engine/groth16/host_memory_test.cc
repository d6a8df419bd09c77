#include "engine/groth16/host_memory.h"

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

TEST(HostMemoryTest, MemAvailableIsReadInKibibytes) {
  EXPECT_EQ(MemAvailableBytes("MemTotal:       24000 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n"),
            2048u * 1024);
  EXPECT_FALSE(MemAvailableBytes("MemTotal: 24000 kB\n").has_value());
  EXPECT_FALSE(MemAvailableBytes("").has_value());
}

TEST(HostMemoryTest, AControlGroupLeavesItsLimitLessWhatIsTaken) {
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "600\n", ""), 400u);
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "600\n", "anon 500\ninactive_file 100\n"), 500u);
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "1200\n", "inactive_file 5000\n"), 1000u);
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "1200\n", ""), 0u);
}

TEST(HostMemoryTest, AControlGroupWithoutALimitSaysNothing) {
  EXPECT_FALSE(ControlGroupHeadroom("max\n", "600\n", "").has_value());
  EXPECT_FALSE(ControlGroupHeadroom("9223372036854771712\n", "600\n", "").has_value());
  EXPECT_FALSE(ControlGroupHeadroom("", "", "").has_value());
}

TEST(HostMemoryTest, ThisMachineHasSome) {
  const auto available = AvailableHostMemory();
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, uint64_t{1} << 20);
}

}  // namespace
}  // namespace proofmill::engine
