// When to try a failed call again, bounded by the deadline of the whole operation.
//
// Thread safety: one object serves one operation on one thread.

#ifndef PROOFMILL_CLIENTS_CPP_RETRY_H_
#define PROOFMILL_CLIENTS_CPP_RETRY_H_

#include <functional>
#include <optional>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "clients/cpp/options.h"

namespace proofmill::client {

class Retrier {
 public:
  Retrier(const RetryPolicy& policy, absl::Time deadline) : policy_(policy), deadline_(deadline) {}

  // How long to wait before the next attempt, or nothing if `error` is final: it is not retryable, the
  // attempts are used up, or the deadline would pass while waiting.
  std::optional<absl::Duration> NextDelay(const absl::Status& error, absl::Time now);

  // An attempt got further than any before (bytes were committed), so failures are counted anew.
  void NoteProgress() { failures_ = 0; }

  // Calls `attempt` until it succeeds or its error is final, and sleeps in between. Returns its last status;
  // if that is a deadline that passed, the text says why the attempt before failed.
  absl::Status Run(const std::function<absl::Status()>& attempt);

 private:
  absl::Duration Backoff();

  const RetryPolicy policy_;
  const absl::Time deadline_;
  int failures_ = 0;  // in a row, without advice
  absl::BitGen random_;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_RETRY_H_
