#include "clients/cpp/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace proofmill::client {
namespace {

constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";
constexpr char kReasonPayload[] = "proofmill/reason";
constexpr char kDelayPayload[] = "proofmill/retry_delay_ms";
constexpr char kOwnerPayload[] = "proofmill/owner_address";
constexpr char kNeverPayload[] = "proofmill/never_retry";
constexpr char kDomain[] = "proofmill";

void AddDetails(const std::string& serialized, absl::Status& status) {
  google::rpc::Status details;
  if (serialized.empty() || !details.ParseFromString(serialized)) return;
  for (const google::protobuf::Any& any : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (any.UnpackTo(&info) && info.domain() == kDomain) {
      status.SetPayload(kReasonPayload, absl::Cord(info.reason()));
      const auto address = info.metadata().find("address");
      if (info.reason() == "WRONG_INSTANCE" && address != info.metadata().end()) {
        status.SetPayload(kOwnerPayload, absl::Cord(address->second));
      }
    } else if (any.UnpackTo(&retry)) {
      const int64_t delay_ms = retry.retry_delay().seconds() * 1000 + retry.retry_delay().nanos() / 1'000'000;
      if (delay_ms >= 0) status.SetPayload(kDelayPayload, absl::Cord(std::to_string(delay_ms)));
    }
  }
}

// The trailer reaches clients behind proxies that drop the details; a negative or garbled value forbids a
// retry.
void AddPushback(const grpc::ClientContext& context, absl::Status& status) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find(kPushbackTrailer);
  if (it == trailers.end()) return;
  int64_t delay_ms = 0;
  const absl::string_view text(it->second.data(), it->second.size());
  if (!absl::SimpleAtoi(text, &delay_ms) || delay_ms < 0) {
    status.SetPayload(kNeverPayload, absl::Cord("1"));
    return;
  }
  const std::optional<absl::Duration> known = RetryDelay(status);
  if (!known || *known < absl::Milliseconds(delay_ms)) {
    status.SetPayload(kDelayPayload, absl::Cord(std::to_string(delay_ms)));
  }
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status, const grpc::ClientContext& context) {
  if (status.ok()) return absl::OkStatus();
  absl::Status out(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  AddDetails(status.error_details(), out);
  AddPushback(context, out);
  return out;
}

std::string ErrorReason(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kReasonPayload);
  return payload ? std::string(*payload) : std::string();
}

std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kDelayPayload);
  int64_t delay_ms = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &delay_ms)) return std::nullopt;
  return absl::Milliseconds(delay_ms);
}

std::optional<std::string> OwnerAddress(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kOwnerPayload);
  if (!payload) return std::nullopt;
  return std::string(*payload);
}

absl::Status MakeError(absl::StatusCode code, const std::string& message, const std::string& reason,
                       std::optional<absl::Duration> retry_delay) {
  absl::Status status(code, message);
  if (!reason.empty()) status.SetPayload(kReasonPayload, absl::Cord(reason));
  if (retry_delay.has_value()) {
    status.SetPayload(kDelayPayload, absl::Cord(std::to_string(absl::ToInt64Milliseconds(*retry_delay))));
  }
  return status;
}

bool IsRetryable(const absl::Status& status) {
  if (status.ok() || status.GetPayload(kNeverPayload)) return false;
  // This library cancels no call, so a CANCELLED that the service does not explain is a server that was
  // shutting down: gRPC drops calls so that no handler has seen yet.
  const bool dropped = absl::IsCancelled(status) && ErrorReason(status).empty();
  return dropped || absl::IsUnavailable(status) || RetryDelay(status).has_value();
}

}  // namespace proofmill::client
