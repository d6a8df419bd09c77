// The backend that runs on one NVIDIA GPU.
//
// Keys stay in device memory with as many multiples of their bases as the budget allows; a proof moves its
// witness up once and five points down, and allocates nothing. Scratch and page-locked memory belong to the
// backend and are as large as its largest key asked for: LoadKey() grows them between two proofs. Both are
// wiped after each proof.
//
// Thread safety: as Groth16Backend.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_BACKEND_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_BACKEND_H_

#include <cstddef>
#include <cstdint>
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
  struct Stats {
    uint64_t host_to_device_bytes = 0;
    uint64_t device_to_host_bytes = 0;
    uint64_t allocations = 0;  // of device and page-locked memory
    size_t key_bytes = 0;
    size_t scratch_bytes = 0;
    size_t limit_bytes = 0;
  };
  virtual Stats stats() const = 0;
  virtual const std::string& gpu_uuid() const = 0;
  // Where tests make the n-th call fail.
  virtual CudaCalls& calls() = 0;
  // What the planner chose for a resident key, one line.
  virtual std::string DescribePlan(const ResidentKey& key) const = 0;
  // Copies the arena back, for the test that finds no secret in it. Waits for the device.
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
