#include "engine/backend/select.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "kernels/field/arithmetic.h"
#if defined(PROOFMILL_HAVE_CUDA)
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/fixed_base_device.h"
#include "engine/backend/cuda/whir_device.h"
#endif

namespace proofmill::engine {
namespace {

BackendSelection CpuOnly(const BackendOptions& options, std::string reason) {
  BackendSelection selection;
  selection.backends.push_back(MakeCpuBackend({.threads = options.cpu_threads}));
  selection.reason = std::move(reason);
  return selection;
}

// One backend for each GPU.
#if defined(PROOFMILL_HAVE_CUDA)
absl::StatusOr<BackendSelection> AllGpus(const BackendOptions& options) {
  PROOFMILL_ASSIGN_OR_RETURN(const int count, CountCudaDevices());
  BackendSelection selection;
  for (int device = 0; device < count; ++device) {
    PROOFMILL_ASSIGN_OR_RETURN(
        std::unique_ptr<CudaBackend> backend,
        MakeCudaBackend({.device = device, .device_memory_limit = options.device_memory_limit}));
    selection.backends.push_back(std::move(backend));
  }
  return selection;
}
absl::StatusOr<WhirDeviceMaker> FirstGpu() {
  PROOFMILL_RETURN_IF_ERROR(CountCudaDevices().status());
  return [](const WhirConfig& config) -> absl::StatusOr<std::unique_ptr<WhirDevice>> {
    return MakeCudaWhirDevice(config);
  };
}
absl::StatusOr<std::unique_ptr<FixedBaseMultiplier>> FirstGpuMultiplier() {
  return MakeCudaFixedBaseMultiplier();
}
#else
absl::Status NoCuda() {
  return WithReason(absl::FailedPreconditionError("cuda: this build has no cuda backend"),
                    ErrorReason::kNoDevice);
}
absl::StatusOr<BackendSelection> AllGpus(const BackendOptions&) { return NoCuda(); }
absl::StatusOr<WhirDeviceMaker> FirstGpu() { return NoCuda(); }
absl::StatusOr<std::unique_ptr<FixedBaseMultiplier>> FirstGpuMultiplier() { return NoCuda(); }
#endif

absl::Status UnknownBackend(std::string_view choice) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("backend: expected auto, cpu or cuda, got \"",
                                                            std::string(choice), "\"")),
                    ErrorReason::kRequestInvalid);
}

}  // namespace

absl::Status CheckDeviceMemoryLimit(uint64_t bytes) {
  if (bytes == 0 || bytes >= kDeviceMemoryLimitMin) return absl::OkStatus();
  return WithReason(absl::InvalidArgumentError(absl::StrCat("device_memory_limit: expected 0 or at least ",
                                                            kDeviceMemoryLimitMin, " bytes, got ", bytes)),
                    ErrorReason::kRequestInvalid);
}

absl::StatusOr<BackendSelection> MakeBackends(std::string_view choice, const BackendOptions& options) {
  PROOFMILL_RETURN_IF_ERROR(CheckDeviceMemoryLimit(options.device_memory_limit));
  if (choice == "cpu") return CpuOnly(options, "cpu: asked for");
  if (choice == "auto" || choice == "cuda") {
    absl::StatusOr<BackendSelection> gpus = AllGpus(options);
    if (gpus.ok()) {
      gpus->reason = absl::StrCat(std::string(choice), ": ", gpus->backends.size(), " GPU(s) found");
      return gpus;
    }
    // A GPU that is there and does not work is an error, not a reason to be silently slow.
    const bool none = absl::IsFailedPrecondition(gpus.status());
    if (choice == "auto" && none)
      return CpuOnly(options, absl::StrCat("auto: cpu, because ", gpus.status().message()));
    return gpus.status();
  }
  return UnknownBackend(choice);
}

absl::StatusOr<WhirDeviceMaker> ChooseWhirDevice(std::string_view choice) {
  if (choice == "cpu") return WhirDeviceMaker();
  if (choice != "auto" && choice != "cuda") return UnknownBackend(choice);
  absl::StatusOr<WhirDeviceMaker> gpu = FirstGpu();
  if (choice == "auto" && absl::IsFailedPrecondition(gpu.status())) return WhirDeviceMaker();
  return gpu;
}

absl::StatusOr<std::unique_ptr<FixedBaseMultiplier>> ChooseFixedBaseMultiplier(std::string_view choice,
                                                                               uint32_t log2_domain) {
  std::unique_ptr<FixedBaseMultiplier> cpu;
  if (choice == "cpu") return cpu;
  if (choice != "auto" && choice != "cuda") return UnknownBackend(choice);
  if (choice == "auto" && log2_domain < kGpuSetupLog2DomainMin) return cpu;
  absl::StatusOr<std::unique_ptr<FixedBaseMultiplier>> gpu = FirstGpuMultiplier();
  if (choice == "auto" && absl::IsFailedPrecondition(gpu.status())) return cpu;
  return gpu;
}

absl::Status ChooseCpuArithmetic(std::string_view choice) {
  if (choice == "auto") return absl::OkStatus();
  std::vector<std::string> supported;
  for (const kernels::Arithmetic arithmetic : kernels::SupportedArithmetics()) {
    supported.emplace_back(kernels::ArithmeticName(arithmetic));
    if (choice == supported.back()) {
      kernels::SetArithmetic(arithmetic);
      return absl::OkStatus();
    }
  }
  const std::string got(choice);
  for (const kernels::Arithmetic arithmetic : kernels::kAllArithmetics) {
    if (choice != kernels::ArithmeticName(arithmetic)) continue;
    return absl::FailedPreconditionError(absl::StrCat("cpu_arithmetic: expected what this CPU has (",
                                                      absl::StrJoin(supported, ", "), "), got ", got));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("cpu_arithmetic: expected auto, portable, adx, fma or ifma, got \"", got, "\""));
}

#if defined(PROOFMILL_HAVE_CUDA)
std::string_view CompiledBackends() { return "cpu, cuda"; }
#else
std::string_view CompiledBackends() { return "cpu"; }
#endif

}  // namespace proofmill::engine
