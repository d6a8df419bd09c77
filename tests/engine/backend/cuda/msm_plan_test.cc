#include "engine/backend/cuda/msm_plan.h"

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

constexpr BaseCounts kCounts = {1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 20};

TEST(MsmPlanTest, WithRoomEveryMultipleIsResident) {
  const auto plan = PlanMsms(kCounts, SIZE_MAX);
  ASSERT_OK(plan);
  for (const kernels::MsmShape& shape : plan->shapes) {
    EXPECT_EQ(shape.tables, shape.windows());
    EXPECT_EQ(shape.sets(), 1U);
  }
}

TEST(MsmPlanTest, LessRoomMeansFewerMultiplesAndNeverMoreBytesThanThereAre) {
  const auto all = PlanMsms(kCounts, SIZE_MAX);
  const size_t bases_alone = (size_t{3} << 20) * 64 + (size_t{1} << 19) * 64 + (size_t{1} << 19) * 128;
  ASSERT_OK(all);
  for (size_t room = all->table_bytes(); room >= bases_alone; room = room * 3 / 4) {
    const auto plan = PlanMsms(kCounts, room);
    ASSERT_OK(plan) << room;
    EXPECT_LE(plan->table_bytes(), room);
    for (const kernels::MsmShape& shape : plan->shapes) {
      EXPECT_GE(shape.tables, 1U);
      EXPECT_GE(shape.tables * shape.sets(), shape.windows());
      EXPECT_LE(shape.sets(), kernels::kMsmSetsMax);
    }
  }
}

TEST(MsmPlanTest, TooLittleRoomForTheBasesIsAnErrorWithTheBytes) {
  const absl::Status status = PlanMsms(kCounts, 1000).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kOutOfMemory);
  EXPECT_NE(status.message().find("1000"), std::string::npos) << status.message();
}

TEST(MsmPlanTest, EmptySetsTakeNothing) {
  const auto plan = PlanMsms({0, 0, 0, 0, 0}, 0);
  ASSERT_OK(plan);
  EXPECT_EQ(plan->table_bytes(), 0U);
}

TEST(MsmPlanTest, WindowsStayWithinTheirBounds) {
  uint32_t last = 0;
  for (uint64_t bases = 1; bases < (uint64_t{1} << 28); bases *= 2) {
    const uint32_t window = WindowBits(static_cast<uint32_t>(bases));
    EXPECT_GE(window, kernels::kMsmWindowBitsMin);
    EXPECT_LE(window, 24U);
    EXPECT_GE(window, last);
    last = window;
  }
}

}  // namespace
}  // namespace proofmill::engine
