#include "engine/backend/cuda/worker_resources.h"

#include <cstddef>

#include "engine/base/status_macros.h"

namespace proofmill::engine {

absl::StatusOr<WorkerResources> WorkerResources::Make(CudaCalls& calls) {
  WorkerResources resources;
  int least = 0;
  int greatest = 0;
  PROOFMILL_RETURN_IF_ERROR(calls.Call("cudaDeviceGetStreamPriorityRange",
                                       [&] { return cudaDeviceGetStreamPriorityRange(&least, &greatest); }));
  // The way to H's scalars is short and all of H waits for it; then A and B2 go first, since the host has
  // most to do with them.
  PROOFMILL_ASSIGN_OR_RETURN(resources.main, Stream::Make(calls, greatest));
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const bool early =
        set == static_cast<size_t>(BaseSetId::kA) || set == static_cast<size_t>(BaseSetId::kB2);
    PROOFMILL_ASSIGN_OR_RETURN(resources.sets[set], Stream::Make(calls, early ? greatest + 1 : least));
  }
  PROOFMILL_ASSIGN_OR_RETURN(resources.uploaded, Event::Make(calls));
  for (WorkerResources::Span& span : resources.stages) {
    PROOFMILL_ASSIGN_OR_RETURN(span.begin, Event::Make(calls));
    PROOFMILL_ASSIGN_OR_RETURN(span.end, Event::Make(calls));
  }
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    PROOFMILL_ASSIGN_OR_RETURN(resources.digits_ready[set], Event::Make(calls));
    PROOFMILL_ASSIGN_OR_RETURN(resources.sum_ready[set], Event::Make(calls));
  }
  PROOFMILL_ASSIGN_OR_RETURN(resources.batch_done,
                             Event::Make(calls, cudaEventBlockingSync | cudaEventDisableTiming));
  PROOFMILL_ASSIGN_OR_RETURN(resources.results, PinnedBuffer<HostResults>::Make(calls, 1));
  return resources;
}

}  // namespace proofmill::engine
