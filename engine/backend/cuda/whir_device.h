// WHIR proofs on one NVIDIA GPU.
//
// The polynomial crosses the bus once; everything else, the transcript included, stays on the device until
// the proof comes back in one copy. Memory is taken when the device is made (again only for a proof with more
// claims than any before) and overwritten after each proof.
//
// Thread safety: as WhirDevice.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_DEVICE_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

class CudaWhirDevice : public WhirDevice {
 public:
  // Where tests make the n-th call fail, and count bytes.
  virtual CudaCalls& calls() = 0;
};

//   FAILED_PRECONDITION  no such device (reason kNoDevice).
//   RESOURCE_EXHAUSTED, INTERNAL  as CudaStatus().
absl::StatusOr<std::unique_ptr<CudaWhirDevice>> MakeCudaWhirDevice(const WhirConfig& config, int device = 0);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_DEVICE_H_
