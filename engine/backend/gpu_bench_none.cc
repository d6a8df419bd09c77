// For builds without CUDA.

#include "absl/status/status.h"
#include "engine/backend/gpu_bench.h"
#include "engine/backend/whir_gpu_bench.h"
#include "engine/base/error_reason.h"

namespace proofmill::engine {
namespace {

absl::Status NoCuda() {
  return WithReason(absl::FailedPreconditionError("cuda: this build has no cuda backend"),
                    ErrorReason::kNoDevice);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuMsmBench<kernels::Fq>>> MakeGpuMsmBench(absl::Span<const kernels::G1Affine>,
                                                                          uint32_t) {
  return NoCuda();
}
absl::StatusOr<std::unique_ptr<GpuMsmBench<kernels::Fq2>>> MakeGpuMsmBench(
    absl::Span<const kernels::G2Affine>, uint32_t) {
  return NoCuda();
}
absl::StatusOr<GpuNttResult> TimeNttOnGpu(absl::Span<const kernels::Fr>, const BenchCounts&) {
  return NoCuda();
}
absl::StatusOr<GpuWhirRates> MeasureWhirRatesOnGpu() { return NoCuda(); }
absl::StatusOr<GpuWhirFusion> TimeWhirFusionOnGpu(const WhirConfig&, const BenchCounts&) { return NoCuda(); }

}  // namespace proofmill::engine
