#include "server/end_in_time.h"

#include <cstdio>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

TEST(EndInTimeTest, WhatEndsInTimeIsLeftAlone) {
  bool told = false;
  {
    const EndInTime end(absl::Hours(1), 4, [&] { told = true; });
  }
  EXPECT_FALSE(told);
}

TEST(EndInTimeDeathTest, AProcessThatDoesNotEndIsEndedWithItsExitCode) {
  EXPECT_EXIT(
      {
        const EndInTime end(absl::Milliseconds(10), 4, [] { std::fputs("it hangs\n", stderr); });
        absl::SleepFor(absl::Minutes(5));
      },
      testing::ExitedWithCode(4), "it hangs");
}

}  // namespace
}  // namespace proofmill::server
