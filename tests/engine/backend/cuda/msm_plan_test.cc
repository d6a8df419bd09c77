#include "engine/backend/cuda/msm_plan.h"

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/workspace_model.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

TEST(MsmPlanTest, TheFirstWayHasEveryMultipleResidentAndTheMeasuredWindow) {
  for (const uint32_t bases : {1U, 100U, 5000U, 1U << 16, 1U << 20, 1U << 24}) {
    SCOPED_TRACE(bases);
    const auto options = MsmOptions(BaseSetId::kA, bases, WorkspaceModel());
    ASSERT_OK(options);
    EXPECT_EQ(options->front().shape.bases, bases);
    EXPECT_EQ(options->front().shape.window_bits, WindowBits(bases));
    EXPECT_EQ(options->front().shape.sets(), 1U);
  }
}

TEST(MsmPlanTest, EachFurtherWayTakesLessMemoryAndMoreTime) {
  for (const BaseSetId id : {BaseSetId::kH, BaseSetId::kB2}) {
    const auto options = MsmOptions(id, 1 << 20, WorkspaceModel());
    ASSERT_OK(options);
    ASSERT_GE(options->size(), 4U);
    for (size_t i = 1; i < options->size(); ++i) {
      const MsmOption& option = (*options)[i];
      EXPECT_LT(option.bytes(), (*options)[i - 1].bytes());
      // The first is there because it was measured, not because of the model.
      if (i > 1) {
        EXPECT_GE(option.seconds, (*options)[i - 1].seconds);
      }
      EXPECT_GE(option.shape.tables * option.shape.sets(), option.shape.windows());
      EXPECT_LE(option.shape.sets(), kernels::kMsmSetsMax);
      EXPECT_GE(option.shape.window_bits, kernels::kMsmWindowBitsMin);
    }
    EXPECT_LT(options->back().bytes(), options->front().bytes() / 2);
  }
}

TEST(MsmPlanTest, InG2AffineAdditionsAreGivenUpForMemory) {
  const auto options = MsmOptions(BaseSetId::kB2, 1 << 20, WorkspaceModel());
  ASSERT_OK(options);
  EXPECT_NE(options->front().shape.affine, kernels::MsmAffine::kNever);
  EXPECT_EQ(options->back().shape.affine, kernels::MsmAffine::kNever);
}

TEST(MsmPlanTest, DigitsAndMultiplesCanBeNumberedHoweverManyPointsThereAre) {
  for (uint64_t bases = uint64_t{1} << 26; bases < (uint64_t{1} << 32); bases = bases * 5 / 4) {
    SCOPED_TRACE(bases);
    const auto options = MsmOptions(BaseSetId::kH, static_cast<uint32_t>(bases), WorkspaceModel());
    if (!options.ok()) {
      // 14 windows of 19 bits are the fewest that are tried.
      EXPECT_GE(bases * 14, uint64_t{1} << 32);
      EXPECT_TRUE(absl::IsResourceExhausted(options.status()));
      EXPECT_EQ(GetReason(options.status()), ErrorReason::kOutOfMemory);
      EXPECT_NE(options.status().message().find(std::to_string(bases)), absl::string_view::npos);
      continue;
    }
    for (const MsmOption& option : *options) {
      EXPECT_LT(uint64_t{option.shape.windows()} * bases, uint64_t{1} << 32);
      EXPECT_LT(option.shape.tables * bases, uint64_t{1} << 31);
    }
  }
}

TEST(MsmPlanTest, AnEmptySetHasNoTables) {
  const auto options = MsmOptions(BaseSetId::kB2, 0, WorkspaceModel());
  ASSERT_OK(options);
  for (const MsmOption& option : *options) EXPECT_EQ(option.table_bytes, 0U);
}

TEST(MsmPlanTest, AnErrorOfTheDeviceIsPassedOn) {
  WorkspaceModel broken;
  broken.error = absl::InternalError("device");
  EXPECT_TRUE(absl::IsInternal(MsmOptions(BaseSetId::kA, 10, broken).status()));
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

TEST(MsmPlanTest, AllocationsAreCountedAsTheDeviceMakesThem) {
  EXPECT_EQ(DeviceAllocationBytes(0), 0U);
  EXPECT_EQ(DeviceAllocationBytes(1), 512U);
  EXPECT_EQ(DeviceAllocationBytes(512), 512U);
  EXPECT_EQ(DeviceAllocationBytes(1 << 20), size_t{1} << 20);
  EXPECT_EQ(DeviceAllocationBytes((1 << 20) + 1), size_t{2} << 20);
  EXPECT_EQ(DeviceAllocationBytes((size_t{64} << 20) + 1), size_t{66} << 20);
}

}  // namespace
}  // namespace proofmill::engine
