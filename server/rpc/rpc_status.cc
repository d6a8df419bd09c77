#include "server/rpc/rpc_status.h"

#include <chrono>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/job_name.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

ErrorReason ReasonOf(const absl::Status& status) {
  if (const auto reason = engine::GetReason(status)) return *reason;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ErrorReason::kRequestInvalid;
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorReason::kDeadlineExpired;
    case absl::StatusCode::kCancelled:
      return ErrorReason::kCancelled;
    case absl::StatusCode::kUnimplemented:
      return ErrorReason::kNotSupported;
    case absl::StatusCode::kUnauthenticated:
      return ErrorReason::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return ErrorReason::kPermissionDenied;
    case absl::StatusCode::kResourceExhausted:
      return ErrorReason::kOutOfMemory;
    default:
      return ErrorReason::kInternal;
  }
}

grpc::Status ToGrpc(const absl::Status& status, std::string_view request_id) {
  if (status.ok()) return grpc::Status::OK;
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(std::string(status.message()));
  google::rpc::ErrorInfo info;
  info.set_domain(kErrorDomain);
  info.set_reason(std::string(engine::ReasonName(ReasonOf(status))));
  if (!request_id.empty()) (*info.mutable_metadata())["request_id"] = std::string(request_id);
  if (const auto owner = GetOwnerAddress(status)) (*info.mutable_metadata())["address"] = *owner;
  details.add_details()->PackFrom(info);
  if (const auto delay = engine::GetRetryDelay(status)) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(delay->count() / 1000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(delay->count() % 1000) * 1'000'000);
    details.add_details()->PackFrom(retry);
  }
  // The numbers of absl::StatusCode are those of gRPC.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
                      details.SerializeAsString());
}

std::optional<std::string> PushbackOf(const absl::Status& status) {
  if (const auto delay = engine::GetRetryDelay(status)) return absl::StrCat(delay->count());
  if (absl::IsResourceExhausted(status)) return "-1";
  return std::nullopt;
}

std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

std::string Got(std::string_view value) {
  constexpr size_t kCharsMax = 64;
  const std::string escaped = absl::CHexEscape(View(value.substr(0, kCharsMax)));
  return absl::StrCat(", got \"", escaped, "\"", value.size() > kCharsMax ? "..." : "");
}

absl::Status InvalidRequest(std::string_view message) {
  return engine::WithReason(absl::InvalidArgumentError(View(message)), ErrorReason::kRequestInvalid);
}

}  // namespace proofmill::server
