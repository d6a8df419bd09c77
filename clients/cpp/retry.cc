#include "clients/cpp/retry.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "clients/cpp/error.h"

namespace proofmill::client {
namespace {

// Advice of "at once" from a service that keeps refusing must not become a busy loop.
constexpr absl::Duration kDelayMin = absl::Milliseconds(10);

// A bare "deadline exceeded" hides what the time was spent on.
absl::Status WithRefusal(const absl::Status& status, const absl::Status& refusal) {
  if (refusal.ok() || !absl::IsDeadlineExceeded(status) || !ErrorReason(status).empty()) return status;
  const std::string reason = ErrorReason(refusal);
  return absl::DeadlineExceededError(absl::StrCat(status.message(), "; the attempt before failed with ",
                                                  reason.empty() ? "" : reason + ": ", refusal.message()));
}

}  // namespace

absl::Duration Retrier::Backoff() {
  const double growth = std::pow(policy_.backoff_factor, failures_ - 1);
  const absl::Duration ceiling = std::min(policy_.backoff_max, policy_.backoff_first * growth);
  return ceiling * absl::Uniform(random_, 0.0, 1.0);
}

std::optional<absl::Duration> Retrier::NextDelay(const absl::Status& error, absl::Time now) {
  if (!IsRetryable(error)) return std::nullopt;
  absl::Duration delay;
  const std::optional<absl::Duration> advice = RetryDelay(error);
  if (advice && policy_.follow_advice) {
    failures_ = 0;
    delay = std::max(*advice, kDelayMin) * absl::Uniform(random_, 1.0, 1.25);
  } else {
    if (++failures_ >= policy_.attempts_max) return std::nullopt;
    delay = Backoff();
  }
  if (now + delay >= deadline_) return std::nullopt;
  return delay;
}

absl::Status Retrier::Run(const std::function<absl::Status()>& attempt) {
  absl::Status refusal;  // of the attempt before
  while (true) {
    absl::Status status = attempt();
    if (status.ok()) return status;
    const std::optional<absl::Duration> delay = NextDelay(status, absl::Now());
    if (!delay) return WithRefusal(status, refusal);
    refusal = std::move(status);
    absl::SleepFor(*delay);
  }
}

}  // namespace proofmill::client
