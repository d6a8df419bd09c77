#include "clients/cpp/retry.h"

#include "absl/strings/cord.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace proofmill::client {
namespace {

const absl::Time kStart = absl::UnixEpoch();

absl::Status WithAdvice(absl::Status status, absl::Duration delay) {
  status.SetPayload("proofmill/retry_delay_ms", absl::Cord(std::to_string(absl::ToInt64Milliseconds(delay))));
  return status;
}

TEST(RetrierTest, ABadRequestIsNotTriedAgain) {
  Retrier retrier({}, kStart + absl::Hours(1));

  EXPECT_EQ(retrier.NextDelay(absl::InvalidArgumentError("no"), kStart), std::nullopt);
  EXPECT_EQ(retrier.NextDelay(absl::ResourceExhaustedError("message too large"), kStart), std::nullopt);
  EXPECT_EQ(retrier.NextDelay(absl::OkStatus(), kStart), std::nullopt);
}

TEST(RetrierTest, ACallThatAServerDroppedOnItsWayOutIsTriedAgain) {
  Retrier retrier({}, kStart + absl::Hours(1));
  absl::Status explained = absl::CancelledError("given up");
  explained.SetPayload("proofmill/reason", absl::Cord("CANCELLED"));

  EXPECT_NE(retrier.NextDelay(absl::CancelledError("CANCELLED"), kStart), std::nullopt);
  EXPECT_EQ(retrier.NextDelay(explained, kStart), std::nullopt);
}

TEST(RetrierTest, AdviceOfTheServiceIsKeptInFullWithAtMostAQuarterOnTop) {
  Retrier retrier({}, kStart + absl::Hours(1));
  const absl::Status full = WithAdvice(absl::ResourceExhaustedError("full"), absl::Milliseconds(300));

  for (int i = 0; i < 200; ++i) {
    const std::optional<absl::Duration> delay = retrier.NextDelay(full, kStart);

    ASSERT_TRUE(delay.has_value()) << "refusals with advice are retried until the deadline, attempt " << i;
    EXPECT_GE(*delay, absl::Milliseconds(300));
    EXPECT_LE(*delay, absl::Milliseconds(375));
  }
}

TEST(RetrierTest, AdviceOfZeroDoesNotBecomeABusyLoop) {
  Retrier retrier({}, kStart + absl::Hours(1));

  EXPECT_GE(retrier.NextDelay(WithAdvice(absl::UnavailableError("x"), absl::ZeroDuration()), kStart),
            absl::Milliseconds(10));
}

TEST(RetrierTest, WithoutAdviceTheDelaysGrowUpToTheirBoundAndTheAttemptsEnd) {
  RetryPolicy policy;
  policy.backoff_first = absl::Milliseconds(100);
  policy.backoff_max = absl::Milliseconds(300);
  policy.attempts_max = 5;
  Retrier retrier(policy, kStart + absl::Hours(1));
  const absl::Status gone = absl::UnavailableError("connection refused");
  const absl::Duration ceilings[] = {absl::Milliseconds(100), absl::Milliseconds(200),
                                     absl::Milliseconds(300), absl::Milliseconds(300)};

  for (const absl::Duration ceiling : ceilings) {
    const std::optional<absl::Duration> delay = retrier.NextDelay(gone, kStart);
    ASSERT_TRUE(delay.has_value());
    EXPECT_LE(*delay, ceiling);
  }
  EXPECT_EQ(retrier.NextDelay(gone, kStart), std::nullopt) << "the fifth failure is the last";
}

TEST(RetrierTest, ProgressStartsTheCountOfAttemptsAnew) {
  RetryPolicy policy;
  policy.attempts_max = 2;
  Retrier retrier(policy, kStart + absl::Hours(1));
  const absl::Status gone = absl::UnavailableError("connection lost");

  EXPECT_TRUE(retrier.NextDelay(gone, kStart).has_value());
  retrier.NoteProgress();
  EXPECT_TRUE(retrier.NextDelay(gone, kStart).has_value());
  EXPECT_FALSE(retrier.NextDelay(gone, kStart).has_value());
}

TEST(RetrierTest, AnErrorIsFinalWhenTheDeadlineWouldPassWhileWaiting) {
  Retrier retrier({}, kStart + absl::Seconds(1));

  EXPECT_EQ(retrier.NextDelay(WithAdvice(absl::UnavailableError("x"), absl::Seconds(1)), kStart),
            std::nullopt);
}

TEST(RetrierTest, AServiceThatForbidsToTryAgainIsObeyed) {
  Retrier retrier({}, kStart + absl::Hours(1));
  absl::Status never = WithAdvice(absl::UnavailableError("x"), absl::Milliseconds(1));
  never.SetPayload("proofmill/never_retry", absl::Cord("1"));

  EXPECT_EQ(retrier.NextDelay(never, kStart), std::nullopt);
}

TEST(RetrierTest, ADeadlineThatPassedTellsWhyTheAttemptBeforeFailed) {
  Retrier retrier({}, absl::InfiniteFuture());
  absl::Status full = WithAdvice(absl::ResourceExhaustedError("64 jobs wait"), absl::Milliseconds(1));
  full.SetPayload("proofmill/reason", absl::Cord("QUEUE_FULL"));
  int attempts = 0;

  const absl::Status status = retrier.Run([&]() -> absl::Status {
    return ++attempts < 3 ? full : absl::DeadlineExceededError("Deadline Exceeded");
  });

  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_EQ(status.message(), "Deadline Exceeded; the attempt before failed with QUEUE_FULL: 64 jobs wait");
}

TEST(RetrierTest, RunTriesAgainUntilItSucceeds) {
  RetryPolicy policy;
  policy.backoff_first = absl::Microseconds(1);
  Retrier retrier(policy, absl::InfiniteFuture());
  int attempts = 0;

  const absl::Status status = retrier.Run(
      [&] { return ++attempts < 3 ? absl::Status(absl::UnavailableError("not yet")) : absl::OkStatus(); });

  EXPECT_TRUE(status.ok());
  EXPECT_EQ(attempts, 3);
}

}  // namespace
}  // namespace proofmill::client
