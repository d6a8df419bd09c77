#include "engine/backend/select.h"

#include <string>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/field/arithmetic.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

TEST(SelectTest, CpuIsOneBackendOnAllThreads) {
  const auto selection = MakeBackends("cpu");
  ASSERT_OK(selection);
  ASSERT_EQ(selection->backends.size(), 1u);
  EXPECT_EQ(selection->backends[0]->name(), "cpu");
  EXPECT_EQ(selection->backends[0]->kind(), BackendKind::kCpu);
}

// With a GPU or without: there is always something that proves, and the reason says why it was taken.
TEST(SelectTest, AutoAlwaysFindsABackendAndSaysWhy) {
  const auto selection = MakeBackends("auto");
  ASSERT_OK(selection);
  EXPECT_GE(selection->backends.size(), 1u);
  EXPECT_THAT(selection->reason, testing::StartsWith("auto: "));
}

TEST(SelectTest, CudaWithoutAGpuIsAnErrorThatSaysSo) {
  const auto selection = MakeBackends("cuda");
  if (selection.ok()) {
    EXPECT_EQ(selection->backends[0]->kind(), BackendKind::kCuda);
    return;
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(selection.status())) << selection.status();
  EXPECT_EQ(GetReason(selection.status()), ErrorReason::kNoDevice);
}

TEST(SelectTest, AnotherWordIsRefused) {
  ExpectError(MakeBackends("gpu"), absl::StatusCode::kInvalidArgument,
              "expected auto, cpu or cuda, got \"gpu\"");
}

TEST(SelectTest, ALimitOfDeviceMemoryWithoutItsUnitIsRefused) {
  ExpectError(MakeBackends("cpu", {.cpu_threads = 1, .device_memory_limit = 4}),
              absl::StatusCode::kInvalidArgument,
              "device_memory_limit: expected 0 or at least 67108864 bytes, got 4");
  EXPECT_OK(MakeBackends("cpu", {.cpu_threads = 1, .device_memory_limit = kDeviceMemoryLimitMin}));
}

TEST(SelectTest, ASetupTakesTheCpuWhereItIsAskedForOrTheKeyIsSmall) {
  const auto cpu = ChooseFixedBaseMultiplier("cpu", kGpuSetupLog2DomainMin);
  ASSERT_OK(cpu);
  EXPECT_EQ(*cpu, nullptr);
  const auto small = ChooseFixedBaseMultiplier("auto", kGpuSetupLog2DomainMin - 1);
  ASSERT_OK(small);
  EXPECT_EQ(*small, nullptr);
  ExpectError(ChooseFixedBaseMultiplier("gpu", 3), absl::StatusCode::kInvalidArgument,
              "expected auto, cpu or cuda, got \"gpu\"");
}

TEST(SelectTest, ASetupTakesTheGpuThatThereIs) {
  const auto cuda = ChooseFixedBaseMultiplier("cuda", 1);
  const auto large = ChooseFixedBaseMultiplier("auto", kGpuSetupLog2DomainMin);
  ASSERT_OK(large);
  if (cuda.ok()) {
    EXPECT_EQ((*cuda)->name(), "cuda:0");
    EXPECT_NE(*large, nullptr);
    return;
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(cuda.status())) << cuda.status();
  EXPECT_EQ(GetReason(cuda.status()), ErrorReason::kNoDevice);
  EXPECT_EQ(*large, nullptr);
}

TEST(SelectTest, EveryArithmeticOfThisCpuCanBeChosenAndAutoLeavesIt) {
  for (const kernels::Arithmetic arithmetic : kernels::SupportedArithmetics()) {
    ASSERT_OK(ChooseCpuArithmetic(kernels::ArithmeticName(arithmetic)));
    EXPECT_EQ(kernels::CurrentArithmetic(), arithmetic);
    ASSERT_OK(ChooseCpuArithmetic("auto"));
    EXPECT_EQ(kernels::CurrentArithmetic(), arithmetic);
  }
}

TEST(SelectTest, AnArithmeticThatTheCpuLacksIsRefusedInOneLine) {
  const kernels::Arithmetic before = kernels::CurrentArithmetic();
  for (const kernels::Arithmetic arithmetic : kernels::kAllArithmetics) {
    const absl::Status status = ChooseCpuArithmetic(kernels::ArithmeticName(arithmetic));
    EXPECT_EQ(status.ok(), kernels::Supported(arithmetic)) << status;
    if (!status.ok()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_THAT(std::string(status.message()), testing::HasSubstr("expected what this CPU has (portable"));
      EXPECT_THAT(std::string(status.message()), testing::EndsWith(kernels::ArithmeticName(arithmetic)));
    }
  }
  kernels::SetArithmetic(before);
  ExpectError(ChooseCpuArithmetic("sse"), absl::StatusCode::kInvalidArgument,
              "cpu_arithmetic: expected auto, portable, adx, fma or ifma, got \"sse\"");
}

TEST(SelectTest, TheBackendsOfThisBuildAreNamed) {
  EXPECT_THAT(std::string(CompiledBackends()), testing::AnyOf("cpu", "cpu, cuda"));
}

}  // namespace
}  // namespace proofmill::engine
