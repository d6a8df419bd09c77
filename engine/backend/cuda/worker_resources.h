// The streams, events and page-locked memory of one proof in flight on a GPU, made once.
//
// Thread safety: one proof at a time.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WORKER_RESOURCES_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WORKER_RESOURCES_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/msm_plan.h"
#include "kernels/cuda/msm.h"

namespace proofmill::engine {

// What small results come back in: page-locked, so that the copies are asynchronous. Of the parts of a set's
// sums those of the first proof of a batch come first.
struct HostResults {
  static constexpr size_t kParts = size_t{kBatchMax} * kernels::kMsmPartsMax;
  std::array<uint32_t, kBaseSetCount> entry_counts;
  std::array<std::array<kernels::G1Xyzz, kParts>, kBaseSetCount> g1_sums;
  std::array<kernels::G2Xyzz, kParts> b2_sums;
};

struct WorkerResources {
  Stream main;
  std::array<Stream, kBaseSetCount> sets;  // sums; of kH only once its digits are ready
  Event uploaded;
  struct Span {
    Event begin, end;
  };
  std::array<Span, kStageCount> stages;
  std::array<Event, kBaseSetCount> digits_ready, sum_ready;
  Event batch_done;                     // to be slept for: others have work for the cores meanwhile
  PinnedBuffer<kernels::U256> staging;  // the largest witness, or those of the largest batch
  PinnedBuffer<HostResults> results;

  // All but the staging memory.
  static absl::StatusOr<WorkerResources> Make(CudaCalls& calls);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WORKER_RESOURCES_H_
