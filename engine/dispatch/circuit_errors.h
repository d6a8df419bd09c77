// Refusals of circuits that several files give. Internal to engine/dispatch.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_ERRORS_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_ERRORS_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/dispatch/circuit.h"

namespace proofmill::engine {

inline constexpr char kLoadStepWaiting[] = "waiting";

inline absl::Status CircuitUnknown(absl::string_view message) {
  return WithReason(absl::NotFoundError(message), ErrorReason::kCircuitUnknown);
}

// For names that are no circuit ids, which no circuit can have.
inline absl::Status CheckCircuitName(std::string_view name) {
  if (IsCircuitId(name)) return absl::OkStatus();
  return CircuitUnknown(
      "no such circuit: the id is not 1 to 128 characters of [A-Za-z0-9._-], the first not a dot");
}

inline absl::Status CircuitIsLoading(std::string_view name) {
  constexpr std::chrono::milliseconds kRetryDelay{1000};
  return WithRetryDelay(
      WithReason(absl::UnavailableError(absl::StrCat("circuit ", std::string(name), " is being loaded")),
                 ErrorReason::kCircuitLoading),
      kRetryDelay);
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_ERRORS_H_
