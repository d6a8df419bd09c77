// Errors of calls as absl::Status, with what the service says about them.
//
// The status keeps the code and the message of the service. Its reason (ErrorInfo, domain "proofmill") and
// its advice when to come back (RetryInfo or the push-back trailer) are payloads, read with the functions
// below.
//
// Thread safety: all functions may be called from any thread.

#ifndef PROOFMILL_CLIENTS_CPP_ERROR_H_
#define PROOFMILL_CLIENTS_CPP_ERROR_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace proofmill::client {

// `status` as it came from the finished call of `context`.
absl::Status FromGrpc(const grpc::Status& status, const grpc::ClientContext& context);

// The reason, for instance "QUEUE_FULL"; empty if the error did not come from the service itself.
std::string ErrorReason(const absl::Status& status);

// How long the service wants to be left alone; nothing if it did not say.
std::optional<absl::Duration> RetryDelay(const absl::Status& status);

// Where the job lives that was asked for, if another process was asked.
std::optional<std::string> OwnerAddress(const absl::Status& status);

// An error as FromGrpc() makes it, from its parts.
absl::Status MakeError(absl::StatusCode code, const std::string& message, const std::string& reason,
                       std::optional<absl::Duration> retry_delay);

// True if the same call may work later: the service gave a delay, or could not be reached, and did not forbid
// to try again. Proving has no effect but the proof, so that repeating it is always safe.
bool IsRetryable(const absl::Status& status);

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_ERROR_H_
