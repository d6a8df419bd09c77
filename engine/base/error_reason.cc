#include "engine/base/error_reason.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace proofmill::engine {
namespace {

constexpr char kReasonUrl[] = "proofmill/reason";
constexpr char kRetryDelayUrl[] = "proofmill/retry_delay_ms";

constexpr std::array kAllReasons = {
    ErrorReason::kQueueFull,
    ErrorReason::kQuotaExceeded,
    ErrorReason::kMessageTooLarge,
    ErrorReason::kOutOfMemory,
    ErrorReason::kDeadlineUnreachable,
    ErrorReason::kDeadlineExpired,
    ErrorReason::kCancelled,
    ErrorReason::kRequestInvalid,
    ErrorReason::kRequestIdConflict,
    ErrorReason::kNotSupported,
    ErrorReason::kJobUnknown,
    ErrorReason::kWitnessMalformed,
    ErrorReason::kWitnessLength,
    ErrorReason::kWitnessNotCanonical,
    ErrorReason::kWitnessUnsatisfied,
    ErrorReason::kProofMalformed,
    ErrorReason::kPublicSignalsMalformed,
    ErrorReason::kKeyMalformed,
    ErrorReason::kKeyUnsafe,
    ErrorReason::kCircuitUnknown,
    ErrorReason::kCircuitLoading,
    ErrorReason::kCircuitFailed,
    ErrorReason::kVersionMismatch,
    ErrorReason::kAliasConflict,
    ErrorReason::kUploadUnknown,
    ErrorReason::kUploadIncomplete,
    ErrorReason::kUploadOffset,
    ErrorReason::kUploadChecksum,
    ErrorReason::kDraining,
    ErrorReason::kNoDevice,
    ErrorReason::kWrongInstance,
    ErrorReason::kSelfCheckFailed,
    ErrorReason::kDeviceFault,
    ErrorReason::kInternal,
    ErrorReason::kUnauthenticated,
    ErrorReason::kPermissionDenied,
};
static_assert(kAllReasons.size() == static_cast<size_t>(ErrorReason::kPermissionDenied) + 1);

}  // namespace

absl::Span<const ErrorReason> AllErrorReasons() { return kAllReasons; }

std::string_view ReasonName(ErrorReason reason) {  // NOLINT(readability-function-size): a table
  // No default: the compiler then names a reason that has no line here.
  switch (reason) {
    case ErrorReason::kQueueFull:
      return "QUEUE_FULL";
    case ErrorReason::kQuotaExceeded:
      return "QUOTA_EXCEEDED";
    case ErrorReason::kMessageTooLarge:
      return "MESSAGE_TOO_LARGE";
    case ErrorReason::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case ErrorReason::kDeadlineUnreachable:
      return "DEADLINE_UNREACHABLE";
    case ErrorReason::kDeadlineExpired:
      return "DEADLINE_EXPIRED";
    case ErrorReason::kCancelled:
      return "CANCELLED";
    case ErrorReason::kRequestInvalid:
      return "REQUEST_INVALID";
    case ErrorReason::kRequestIdConflict:
      return "REQUEST_ID_CONFLICT";
    case ErrorReason::kNotSupported:
      return "NOT_SUPPORTED";
    case ErrorReason::kJobUnknown:
      return "JOB_UNKNOWN";
    case ErrorReason::kWitnessMalformed:
      return "WITNESS_MALFORMED";
    case ErrorReason::kWitnessLength:
      return "WITNESS_LENGTH";
    case ErrorReason::kWitnessNotCanonical:
      return "WITNESS_NOT_CANONICAL";
    case ErrorReason::kWitnessUnsatisfied:
      return "WITNESS_UNSATISFIED";
    case ErrorReason::kProofMalformed:
      return "PROOF_MALFORMED";
    case ErrorReason::kPublicSignalsMalformed:
      return "PUBLIC_SIGNALS_MALFORMED";
    case ErrorReason::kKeyMalformed:
      return "KEY_MALFORMED";
    case ErrorReason::kKeyUnsafe:
      return "KEY_UNSAFE";
    case ErrorReason::kCircuitUnknown:
      return "CIRCUIT_UNKNOWN";
    case ErrorReason::kCircuitLoading:
      return "CIRCUIT_LOADING";
    case ErrorReason::kCircuitFailed:
      return "CIRCUIT_FAILED";
    case ErrorReason::kVersionMismatch:
      return "VERSION_MISMATCH";
    case ErrorReason::kAliasConflict:
      return "ALIAS_CONFLICT";
    case ErrorReason::kUploadUnknown:
      return "UPLOAD_UNKNOWN";
    case ErrorReason::kUploadIncomplete:
      return "UPLOAD_INCOMPLETE";
    case ErrorReason::kUploadOffset:
      return "UPLOAD_OFFSET";
    case ErrorReason::kUploadChecksum:
      return "UPLOAD_CHECKSUM";
    case ErrorReason::kDraining:
      return "DRAINING";
    case ErrorReason::kNoDevice:
      return "NO_DEVICE";
    case ErrorReason::kWrongInstance:
      return "WRONG_INSTANCE";
    case ErrorReason::kSelfCheckFailed:
      return "SELF_CHECK_FAILED";
    case ErrorReason::kDeviceFault:
      return "DEVICE_FAULT";
    case ErrorReason::kInternal:
      return "INTERNAL";
    case ErrorReason::kUnauthenticated:
      return "UNAUTHENTICATED";
    case ErrorReason::kPermissionDenied:
      return "PERMISSION_DENIED";
  }
  return "INTERNAL";
}

std::optional<ErrorReason> ReasonFromName(std::string_view name) {
  for (ErrorReason reason : kAllReasons) {
    if (ReasonName(reason) == name) return reason;
  }
  return std::nullopt;
}

absl::Status WithReason(absl::Status status, ErrorReason reason) {
  status.SetPayload(kReasonUrl, absl::Cord(std::string(ReasonName(reason))));
  return status;
}

std::optional<ErrorReason> GetReason(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonUrl);
  if (!payload.has_value()) return std::nullopt;
  return ReasonFromName(std::string(*payload));
}

absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay) {
  const int64_t delay_ms = delay.count() < 0 ? 0 : int64_t{delay.count()};
  status.SetPayload(kRetryDelayUrl, absl::Cord(absl::StrCat(delay_ms)));
  return status;
}

std::optional<std::chrono::milliseconds> GetRetryDelay(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryDelayUrl);
  int64_t delay_ms = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &delay_ms)) return std::nullopt;
  return std::chrono::milliseconds(delay_ms);
}

}  // namespace proofmill::engine
