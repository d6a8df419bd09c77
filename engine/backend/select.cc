#include "engine/backend/select.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"

namespace proofmill::engine {
namespace {

constexpr absl::string_view kWhyNoCuda = "this build has no cuda backend";

BackendSelection CpuOnly(const BackendOptions& options, std::string reason) {
  BackendSelection selection;
  selection.backends.push_back(MakeCpuBackend({.threads = options.cpu_threads}));
  selection.reason = std::move(reason);
  return selection;
}

}  // namespace

absl::StatusOr<BackendSelection> MakeBackends(std::string_view choice, const BackendOptions& options) {
  if (choice == "cpu") return CpuOnly(options, "cpu: asked for");
  if (choice == "auto") return CpuOnly(options, absl::StrCat("auto: cpu, because ", kWhyNoCuda));
  if (choice == "cuda") {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat("backend: cuda was asked for, but ", kWhyNoCuda)),
        ErrorReason::kNoDevice);
  }
  return WithReason(absl::InvalidArgumentError(absl::StrCat("backend: expected auto, cpu or cuda, got \"",
                                                            std::string(choice), "\"")),
                    ErrorReason::kRequestInvalid);
}

std::string_view CompiledBackends() { return "cpu"; }

}  // namespace proofmill::engine
