// One WHIR proof as work on a stream: the protocol of engine/whir/prover.cc with the transcript on the
// device, so that nothing waits for the host between the first commitment and the last opening.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_RUN_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_RUN_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/whir_memory.h"
#include "engine/backend/cuda/whir_places.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

// What a run works with. All outlive it.
struct WhirRunContext {
  CudaCalls& calls;
  const WhirConfig& config;
  const WhirPlaces& places;
  const WhirViews& views;
  cudaStream_t stream;
  size_t claims;
  uint32_t nonce_end;
  // Called where a stage begins, with the time that it belongs to.
  std::function<absl::Status(double WhirTimes::*stage)> begin_stage;
  // Called before each round and before the last step; an error ends the run.
  std::function<absl::Status()> begin_round;
};

// Enqueues everything between the arrival of polynomial, sponge, points and values, and the proof's words in
// device memory.
//   INTERNAL  a launch failed (reason kDeviceFault). Else what the functions of `context` return.
absl::Status EnqueueWhirProof(const WhirRunContext& context);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_RUN_H_
