#include "engine/dispatch/proof_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"

namespace proofmill::engine {

RunOutcome FailedRun(absl::Status status, const Groth16Backend& backend) {
  RunOutcome outcome;
  if (GetReason(status) == ErrorReason::kDeviceFault) {
    const bool lost = backend.lost();
    outcome.fault = DeviceFault{.error_class = lost ? DeviceErrorClass::kSticky : DeviceErrorClass::kLaunch,
                                .status = status,
                                .lost = lost};
  }
  outcome.status = std::move(status);
  return outcome;
}

RunOutcome DeviceBlamed(absl::Status status, const Groth16Backend& backend) {
  RunOutcome outcome;
  outcome.verdict = BlameVerdict::kDevice;
  outcome.fault =
      DeviceFault{.error_class = DeviceErrorClass::kSelfCheck, .status = status, .lost = backend.lost()};
  outcome.status = std::move(status);
  return outcome;
}

RunOutcome NotInstalled(const Circuit& circuit, const Groth16Backend& backend) {
  RunOutcome outcome;
  outcome.status = WithReason(
      absl::InternalError(absl::StrCat("circuit ", circuit.id, " is not on device ", backend.name())),
      ErrorReason::kInternal);
  return outcome;
}

}  // namespace proofmill::engine
