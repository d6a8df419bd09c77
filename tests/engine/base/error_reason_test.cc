#include "engine/base/error_reason.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;

TEST(ErrorReasonTest, EveryReasonHasANameOfItsOwnThatLeadsBackToIt) {
  std::set<std::string> names;
  for (ErrorReason reason : AllErrorReasons()) {
    const std::string name(ReasonName(reason));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(ReasonFromName(name), reason);
    EXPECT_EQ(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), std::string::npos) << name;
    EXPECT_LE(name.size(), 63u) << "google.rpc.ErrorInfo allows no more";
  }
  EXPECT_EQ(ReasonFromName("NO_SUCH_REASON"), std::nullopt);
}

TEST(ErrorReasonTest, AReasonTravelsWithTheStatusAndChangesNeitherCodeNorMessage) {
  const absl::Status status = WithReason(absl::ResourceExhaustedError("full"), ErrorReason::kQueueFull);

  EXPECT_EQ(GetReason(status), ErrorReason::kQueueFull);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(std::string(status.message()), "full");
}

TEST(ErrorReasonTest, TheLastReasonCounts) {
  const absl::Status status =
      WithReason(WithReason(absl::InternalError("x"), ErrorReason::kInternal), ErrorReason::kDeviceFault);

  EXPECT_EQ(GetReason(status), ErrorReason::kDeviceFault);
}

TEST(ErrorReasonTest, SuccessHasNeitherReasonNorDelay) {
  const absl::Status status =
      WithRetryDelay(WithReason(absl::OkStatus(), ErrorReason::kQueueFull), milliseconds(5));

  EXPECT_TRUE(status.ok());
  EXPECT_EQ(GetReason(status), std::nullopt);
  EXPECT_EQ(GetRetryDelay(status), std::nullopt);
  EXPECT_EQ(GetReason(absl::InternalError("without")), std::nullopt);
}

TEST(ErrorReasonTest, TheRetryDelayTravelsBesideTheReason) {
  const absl::Status status = WithRetryDelay(
      WithReason(absl::ResourceExhaustedError("full"), ErrorReason::kQueueFull), milliseconds(1234));

  EXPECT_EQ(GetRetryDelay(status), milliseconds(1234));
  EXPECT_EQ(GetReason(status), ErrorReason::kQueueFull);
}

TEST(ErrorReasonTest, ANegativeDelayCountsAsZero) {
  EXPECT_EQ(GetRetryDelay(WithRetryDelay(absl::UnavailableError("x"), milliseconds(-7))), milliseconds(0));
}

}  // namespace
}  // namespace proofmill::engine
