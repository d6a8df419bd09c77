#include "engine/base/cancellation.h"

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

TEST(CancellationTokenTest, IsOkUntilItIsCancelled) {
  CancellationToken token;
  EXPECT_TRUE(token.Check().ok());

  token.Cancel();

  EXPECT_TRUE(absl::IsCancelled(token.Check()));
}

TEST(CancellationTokenTest, TellsAPassedDeadlineFromACancellation) {
  const CancellationToken::Clock::time_point now = CancellationToken::Clock::now();
  EXPECT_TRUE(absl::IsDeadlineExceeded(CancellationToken(now - std::chrono::seconds(1)).Check()));
  EXPECT_TRUE(CancellationToken(now + std::chrono::hours(1)).Check().ok());
}

}  // namespace
}  // namespace proofmill::engine
