// What the parts of WHIR proofs take alone on a GPU: for `proofmill whir bench`.
//
// Times are those of CUDA events around runs that fill the device, or around graphs, as proofs use them.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_BACKEND_WHIR_GPU_BENCH_H_
#define PROOFMILL_ENGINE_BACKEND_WHIR_GPU_BENCH_H_

#include "absl/status/statusor.h"
#include "engine/backend/gpu_bench.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

// Of the first GPU.
struct GpuWhirRates {
  double permutations = 0;          // Poseidon2 a second, one state a thread
  double quad_permutations = 0;     // and one in four lanes
  double nonces = 0;                // a second, in a search without a hit
  double alone_seconds = 0;         // of one permutation at a time, in one thread
  double quad_alone_seconds = 0;    // in four lanes
  double spread_alone_seconds = 0;  // and in sixteen
};
//   FAILED_PRECONDITION  (reason kNoDevice) there is none, or none in this build.
absl::StatusOr<GpuWhirRates> MeasureWhirRatesOnGpu();

// Medians, in seconds.
struct GpuFusion {
  double fused = 0;
  double unfused = 0;
};
struct GpuWhirFusion {
  GpuFusion trees;     // all Merkle trees of a proof, against a launch for the leaves and one for each layer
  GpuFusion sumcheck;  // the first fold and the sums of the round after it in one pass, against two
};
// For proofs of these parameters. Errors as above, and
//   RESOURCE_EXHAUSTED  the GPU's memory is too small.
absl::StatusOr<GpuWhirFusion> TimeWhirFusionOnGpu(const WhirConfig& config, const BenchCounts& counts);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_WHIR_GPU_BENCH_H_
