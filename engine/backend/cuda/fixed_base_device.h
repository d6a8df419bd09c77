// Multiples of the generators on one NVIDIA GPU.
//
// The multiples that the CPU's table holds are moved to the device when the object is made; scalars go up and
// points come back in chunks, so that memory does not grow with the key: about 17 MiB of the device's and as
// much page-locked. The scalars of a set-up are its secrets: they are overwritten on the device before
// Multiply() returns, whether it succeeds or not, and in page-locked memory when the object ends.
//
// Thread safety: as FixedBaseMultiplier.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_FIXED_BASE_DEVICE_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_FIXED_BASE_DEVICE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/groth16/fixed_base.h"

namespace proofmill::engine {

struct CudaFixedBaseOptions {
  int device = 0;
  // Scalars on the device at a time: in G1 about as many as an H200 has threads for at once.
  size_t chunk = size_t{1} << 16;
};

class CudaFixedBaseMultiplier : public FixedBaseMultiplier {
 public:
  // Where tests make the n-th call fail.
  virtual CudaCalls& calls() = 0;
  // Copies back the memory that scalars were in, for the test that finds none there.
  virtual absl::StatusOr<std::string> ReadScalars() = 0;
};

// REQUIRES: 0 < chunk < 2^32.
//   FAILED_PRECONDITION           no such device (reason kNoDevice).
//   RESOURCE_EXHAUSTED, INTERNAL  as CudaStatus().
absl::StatusOr<std::unique_ptr<CudaFixedBaseMultiplier>> MakeCudaFixedBaseMultiplier(
    const CudaFixedBaseOptions& options = {});

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_FIXED_BASE_DEVICE_H_
