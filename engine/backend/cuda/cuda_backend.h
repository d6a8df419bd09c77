// The backend that runs on one NVIDIA GPU.
//
// Keys stay in device memory with as many multiples of their bases as the budget allows, and beside them the
// memory of WHIR proofs, a piece for each set of parameters (whir_key.h); where not all fit the least
// recently used give way and come back when they are needed. A Groth16 proof moves its witness up once and
// five points down, and allocates nothing; the first of a key in each arena records the MSMs that are
// launched as graphs from then on, for which the driver takes some memory of its own. Scratch and page-locked
// memory belong to the backend, for up to four proofs in flight, and are as large as its largest key asked
// for: LoadKey() grows them between proofs. Both are wiped after each proof.
//
// Thread safety: as Groth16Backend.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_BACKEND_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_BACKEND_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_calls.h"

namespace proofmill::engine {

struct CudaBackendOptions {
  int device = 0;
  // Device memory for keys and scratch together; 0: all that is free at the start but kDeviceReserveBytes.
  size_t device_memory_limit = 0;
};

// Left to the driver and to whatever else runs on the card.
inline constexpr size_t kDeviceReserveBytes = size_t{512} << 20;

class CudaBackend : public Groth16Backend {
 public:
  // As usage(), which always has a value here.
  virtual DeviceUsage stats() const = 0;
  // Where tests make the n-th call fail.
  virtual CudaCalls& calls() = 0;
  // What the planner chose for a key, one line; "evicted" while it is not resident. REQUIRES: nothing else is
  // going on meanwhile.
  virtual std::string DescribePlan(const ResidentKey& key) const = 0;
  // Copies the arenas back, for the test that finds no secret in them. Waits for the device. REQUIRES: no
  // proof is running.
  virtual absl::StatusOr<std::string> ReadScratch() = 0;
};

// The number of usable GPUs. FAILED_PRECONDITION (reason kNoDevice) when there is no driver, or none that
// this build can use.
absl::StatusOr<int> CountCudaDevices();

//   FAILED_PRECONDITION  no such device, or one that this build has no code for.
//   RESOURCE_EXHAUSTED, INTERNAL  as CudaStatus().
absl::StatusOr<std::unique_ptr<CudaBackend>> MakeCudaBackend(const CudaBackendOptions& options = {});

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_BACKEND_H_
