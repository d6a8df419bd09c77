// WHIR proofs on the threads of a CPU backend.
//
// Thread safety: as WhirDevice.

#ifndef PROOFMILL_ENGINE_BACKEND_CPU_CPU_WHIR_H_
#define PROOFMILL_ENGINE_BACKEND_CPU_CPU_WHIR_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {

// Proofs run in `arena` and hold `proof_mu`, as all proofs of the backend do; both outlive the device. The
// first proof takes memory that later ones use again.
//   RESOURCE_EXHAUSTED  (reason kOutOfMemory) the system does not have what proofs need; the message names
//   it.
absl::StatusOr<std::unique_ptr<WhirDevice>> MakeCpuWhirDevice(const WhirConfig& config,
                                                              kernels::ThreadArena& arena, Mutex& proof_mu);

// Bytes that one proof needs at its peak, its polynomial included.
uint64_t CpuWhirProofBytes(const WhirConfig& config);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CPU_CPU_WHIR_H_
