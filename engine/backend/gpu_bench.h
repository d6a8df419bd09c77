// The two kernels that a proof spends its time in, alone on a GPU: for `proofmill bench`.
//
// Inputs are moved and multiples of the bases made before the clock starts; times are those of CUDA events
// around one run. Results come back, so that the caller can compare them with the CPU's.
//
// Thread safety: one call at a time for each object.

#ifndef PROOFMILL_ENGINE_BACKEND_GPU_BENCH_H_
#define PROOFMILL_ENGINE_BACKEND_GPU_BENCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

struct BenchCounts {
  uint64_t warmup = 0;
  uint64_t runs = 1;  // at least 1
};

template <typename F>
class GpuMsmBench {
 public:
  struct Result {
    std::vector<double> seconds;  // of each run, in order
    kernels::Xyzz<F> sum;
  };
  virtual ~GpuMsmBench() = default;
  // The MSM of the bases with plain scalars below r. REQUIRES: as many as bases.
  virtual absl::StatusOr<Result> Time(absl::Span<const kernels::U256> scalars, const BenchCounts& counts) = 0;
  // "17-bit windows, 15 of 15 multiples".
  virtual std::string plan() const = 0;
};

inline constexpr uint32_t kGpuWindowBitsMin = 4;
inline constexpr uint32_t kGpuWindowBitsMax = 24;

// On the first GPU, with all multiples of the bases resident. window_bits is 0 for the window that a key of
// so many bases gets, or kGpuWindowBitsMin to kGpuWindowBitsMax.
//   FAILED_PRECONDITION  (reason kNoDevice) there is none, or none in this build.
//   RESOURCE_EXHAUSTED   its memory is too small.
absl::StatusOr<std::unique_ptr<GpuMsmBench<kernels::Fq>>> MakeGpuMsmBench(
    absl::Span<const kernels::G1Affine> bases, uint32_t window_bits);
absl::StatusOr<std::unique_ptr<GpuMsmBench<kernels::Fq2>>> MakeGpuMsmBench(
    absl::Span<const kernels::G2Affine> bases, uint32_t window_bits);

struct GpuNttResult {
  std::vector<double> seconds;  // of each run, in order
  std::vector<kernels::Fr> values;
};
// One forward transform, from coefficients in bit-reversed order to values in natural order. REQUIRES: 2^k
// coefficients, k <= 28. Errors as above.
absl::StatusOr<GpuNttResult> TimeNttOnGpu(absl::Span<const kernels::Fr> coefficients,
                                          const BenchCounts& counts);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_GPU_BENCH_H_
