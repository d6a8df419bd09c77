#include "engine/backend/cuda/cuda_calls.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"

namespace proofmill::engine {

CudaErrorClass ClassifyCudaError(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return CudaErrorClass::kOutOfMemory;
    case cudaErrorLaunchTimeout:
    case cudaErrorTimeout:
      return CudaErrorClass::kTimeout;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorNotReady:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureImplicit:
      return CudaErrorClass::kLaunch;
    default:
      // Launch failures, illegal addresses, ECC errors, lost devices, and what CUDA may add: the safe reading
      // is that the context is gone (measured on an H200: after a trapping kernel only a new process helps).
      return CudaErrorClass::kSticky;
  }
}

std::string_view CudaErrorClassName(CudaErrorClass error_class) {
  switch (error_class) {
    case CudaErrorClass::kOutOfMemory:
      return "out of memory";
    case CudaErrorClass::kLaunch:
      return "launch";
    case CudaErrorClass::kTimeout:
      return "timeout";
    case CudaErrorClass::kSticky:
      return "sticky";
  }
  return "sticky";
}

absl::Status CudaStatus(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return absl::OkStatus();
  const CudaErrorClass error_class = ClassifyCudaError(error);
  const std::string message =
      absl::StrCat("cuda: ", std::string(what), " failed: ", cudaGetErrorString(error), " (",
                   std::string(CudaErrorClassName(error_class)), ")");
  if (error_class == CudaErrorClass::kOutOfMemory) {
    return WithReason(absl::ResourceExhaustedError(message), ErrorReason::kOutOfMemory);
  }
  return WithReason(absl::InternalError(message), ErrorReason::kDeviceFault);
}

void CudaCalls::NoteError(cudaError_t error) {
  // A kernel that was stopped for taking too long takes the context with it, other timeouts do not.
  if (ClassifyCudaError(error) == CudaErrorClass::kSticky || error == cudaErrorLaunchTimeout) {
    lost_.store(true, std::memory_order_relaxed);
  }
  // CUDA keeps the error for the next cudaGetLastError() of this thread as well: without this the next kernel
  // launch, perhaps for another key, would seem to fail. A sticky error stays in spite of it.
  static_cast<void>(cudaGetLastError());
}

}  // namespace proofmill::engine
