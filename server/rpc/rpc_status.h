// From the errors of the engine to those of gRPC.
//
// The code and the message go over as they are. The trailer `grpc-status-details-bin` holds a
// google.rpc.Status with ErrorInfo (domain "proofmill", reason) and, where waiting helps, RetryInfo;
// `grpc-retry-pushback-ms` says the same to gRPC's own retry, and forbids it (-1) where an error that it
// would retry cannot be cured by waiting.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_RPC_RPC_STATUS_H_
#define PROOFMILL_SERVER_RPC_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/base/error_reason.h"

namespace proofmill::server {

inline constexpr char kErrorDomain[] = "proofmill";
inline constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";

// The reason of an error; one that was made without a reason gets the one that its code suggests. REQUIRES:
// not OK.
engine::ErrorReason ReasonOf(const absl::Status& status);

// `request_id`, if not empty, goes into the metadata of ErrorInfo.
grpc::Status ToGrpc(const absl::Status& status, std::string_view request_id);

// The value of the push-back trailer, if there is to be one.
std::optional<std::string> PushbackOf(const absl::Status& status);

// "OK", "RESOURCE_EXHAUSTED" and so on.
std::string CodeName(absl::StatusCode code);

// The end of a message about a text of the request: `, got "value"`, cut to 64 bytes and escaped, so that the
// message stays one line.
std::string Got(std::string_view value);

// INVALID_ARGUMENT, kRequestInvalid: what most checks of a request give.
absl::Status InvalidRequest(std::string_view message);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_RPC_STATUS_H_
