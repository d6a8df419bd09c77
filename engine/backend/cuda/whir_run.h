// WHIR proofs as work on a stream: the protocol of engine/whir/prover.cc with the transcript on the
// device, so that nothing waits for the host between the first commitment and the last opening.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_RUN_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_RUN_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

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
  bool stages;  // whether anybody asks for their times
  // Called where a stage begins, with the time that it belongs to.
  std::function<absl::Status(double WhirTimes::*stage)> begin_stage;
};

// A proof has these parts: up to the end of the first sumcheck, each round, and the last step.
inline size_t WhirParts(const WhirConfig& config) { return config.rounds.size() + 2; }

// Enqueues one part; all parts in order lie between the arrival of polynomial, sponge, points and values, and
// the proof's words in device memory. Only `claims` and `nonce_end` change what is enqueued.
//   INTERNAL  a launch failed (reason kDeviceFault). Else what begin_stage returns.
absl::Status EnqueueWhirPart(const WhirRunContext& context, size_t part);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_RUN_H_
