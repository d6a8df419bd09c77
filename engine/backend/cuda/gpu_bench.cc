#include "engine/backend/gpu_bench.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/gpu_timer.h"
#include "engine/backend/cuda/msm_plan.h"
#include "engine/base/status_macros.h"
#include "kernels/cuda/msm.h"
#include "kernels/cuda/ntt.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;
using kernels::U256;
using kernels::Xyzz;

template <typename F>
class CudaMsmBench final : public GpuMsmBench<F> {
 public:
  static absl::StatusOr<std::unique_ptr<CudaMsmBench>> Make(absl::Span<const Affine<F>> bases,
                                                            uint32_t window_bits) {
    auto calls = std::make_unique<CudaCalls>();
    PROOFMILL_ASSIGN_OR_RETURN(GpuTimer timer, GpuTimer::Make(*calls));
    std::unique_ptr<CudaMsmBench> bench(new CudaMsmBench(std::move(calls), std::move(timer)));
    PROOFMILL_RETURN_IF_ERROR(bench->Init(bases, window_bits));
    return bench;
  }

  absl::StatusOr<typename GpuMsmBench<F>::Result> Time(absl::Span<const U256> scalars,
                                                       const BenchCounts& counts) override {
    PROOFMILL_RETURN_IF_ERROR(timer_.Upload(scalars_, scalars.data(), scalars.size()));
    typename GpuMsmBench<F>::Result result;
    PROOFMILL_ASSIGN_OR_RETURN(result.seconds,
                               timer_.Measure(counts, [&](cudaStream_t stream) { return Run(stream); }));
    std::vector<Xyzz<F>> parts(shape_.parts());
    PROOFMILL_RETURN_IF_ERROR(timer_.Download(parts.data(), sums_, parts.size()));
    result.sum = kernels::JoinMsmParts(shape_, parts.data());
    return result;
  }

  std::string plan() const override {
    return absl::StrCat(shape_.window_bits, "-bit windows, ", shape_.tables, " of ", shape_.windows(),
                        " multiples");
  }

 private:
  CudaMsmBench(std::unique_ptr<CudaCalls> calls, GpuTimer timer)
      : calls_(std::move(calls)), timer_(std::move(timer)) {}

  absl::Status Init(absl::Span<const Affine<F>> bases, uint32_t window_bits) {
    const auto n = static_cast<uint32_t>(bases.size());
    shape_ = {.bases = n, .window_bits = window_bits != 0 ? window_bits : WindowBits(n), .tables = 1};
    shape_.tables = shape_.windows();
    uint32_t slices_max = 0;
    size_t bytes = 0;
    PROOFMILL_RETURN_IF_ERROR(
        calls_->Call("msm kernels", [&] { return kernels::MsmSlicesMax<F>(&slices_max); }));
    PROOFMILL_RETURN_IF_ERROR(calls_->Call(
        "msm workspace", [&] { return kernels::MsmWorkspaceBytes<F>(shape_, slices_max, &bytes); }));
    PROOFMILL_ASSIGN_OR_RETURN(memory_, DeviceBuffer<uint8_t>::Make(*calls_, bytes));
    PROOFMILL_RETURN_IF_ERROR(calls_->Call("msm workspace", [&] {
      return kernels::MsmCutWorkspace<F>(shape_, slices_max, memory_.data(), &workspace_);
    }));
    PROOFMILL_ASSIGN_OR_RETURN(tables_, DeviceBuffer<Affine<F>>::Make(*calls_, size_t{n} * shape_.tables));
    PROOFMILL_ASSIGN_OR_RETURN(scalars_, DeviceBuffer<U256>::Make(*calls_, n));
    PROOFMILL_ASSIGN_OR_RETURN(sums_, DeviceBuffer<Xyzz<F>>::Make(*calls_, shape_.parts()));
    PROOFMILL_ASSIGN_OR_RETURN(entries_, PinnedBuffer<uint32_t>::Make(*calls_, 1));
    PROOFMILL_RETURN_IF_ERROR(timer_.Upload(tables_, bases.data(), n));
    for (uint32_t t = 1; t < shape_.tables; ++t) {
      Affine<F>* next = tables_.data() + size_t{t} * n;
      PROOFMILL_RETURN_IF_ERROR(calls_->Call("multiples of the bases", [&] {
        return kernels::LaunchMsmTableStep<F>(next - n, next, n, shape_.window_bits * shape_.sets(),
                                              timer_.stream());
      }));
    }
    return timer_.Wait();
  }

  // As a proof does it: digits, their number to the host unless the list is padded, sort and sum.
  absl::Status Run(cudaStream_t stream) {
    PROOFMILL_RETURN_IF_ERROR(calls_->Call("msm digits", [&] {
      return kernels::LaunchMsmDigits<F>(shape_, 0, {scalars_.data()}, workspace_, stream);
    }));
    if (!shape_.is_padded()) {
      PROOFMILL_RETURN_IF_ERROR(calls_->Call("msm digit count", [&] {
        return cudaMemcpyAsync(entries_.data(), workspace_.counters, sizeof(uint32_t), cudaMemcpyDeviceToHost,
                               stream);
      }));
      PROOFMILL_RETURN_IF_ERROR(timer_.Wait());
    }
    PROOFMILL_RETURN_IF_ERROR(calls_->Call("msm", [&] {
      return kernels::LaunchMsmBuckets<F>(shape_, 0, tables_.data(), entries_[0], workspace_, stream);
    }));
    return calls_->Call(
        "msm", [&] { return kernels::LaunchMsmReduce<F>(shape_, workspace_, sums_.data(), stream); });
  }

  const std::unique_ptr<CudaCalls> calls_;
  GpuTimer timer_;
  kernels::MsmShape shape_;
  kernels::MsmWorkspace<F> workspace_;
  DeviceBuffer<uint8_t> memory_;
  DeviceBuffer<Affine<F>> tables_;
  DeviceBuffer<U256> scalars_;
  DeviceBuffer<Xyzz<F>> sums_;
  PinnedBuffer<uint32_t> entries_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GpuMsmBench<Fq>>> MakeGpuMsmBench(absl::Span<const kernels::G1Affine> bases,
                                                                 uint32_t window_bits) {
  PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<CudaMsmBench<Fq>> bench,
                             CudaMsmBench<Fq>::Make(bases, window_bits));
  return std::unique_ptr<GpuMsmBench<Fq>>(std::move(bench));
}
absl::StatusOr<std::unique_ptr<GpuMsmBench<Fq2>>> MakeGpuMsmBench(absl::Span<const kernels::G2Affine> bases,
                                                                  uint32_t window_bits) {
  PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<CudaMsmBench<Fq2>> bench,
                             CudaMsmBench<Fq2>::Make(bases, window_bits));
  return std::unique_ptr<GpuMsmBench<Fq2>>(std::move(bench));
}

absl::StatusOr<GpuNttResult> TimeNttOnGpu(absl::Span<const Fr> coefficients, const BenchCounts& counts) {
  CudaCalls calls;
  PROOFMILL_ASSIGN_OR_RETURN(GpuTimer timer, GpuTimer::Make(calls));
  const size_t n = coefficients.size();
  uint32_t log2_n = 0;
  while ((size_t{1} << log2_n) < n) ++log2_n;
  PROOFMILL_ASSIGN_OR_RETURN(const auto roots, DeviceBuffer<Fr>::Make(calls, n));
  PROOFMILL_ASSIGN_OR_RETURN(const auto coset, DeviceBuffer<Fr>::Make(calls, n));
  PROOFMILL_ASSIGN_OR_RETURN(const auto values, DeviceBuffer<Fr>::Make(calls, n));
  const kernels::NttTables tables{log2_n, roots.data(), coset.data()};
  PROOFMILL_RETURN_IF_ERROR(
      calls.Call("transform tables", [&] { return kernels::LaunchNttTables(tables, timer.stream()); }));
  PROOFMILL_RETURN_IF_ERROR(timer.Upload(values, coefficients.data(), n));
  const auto transform = [&](cudaStream_t stream) {
    return calls.Call("ntt", [&] { return kernels::LaunchNttForward(tables, values.data(), 1, stream); });
  };
  PROOFMILL_RETURN_IF_ERROR(transform(timer.stream()));
  GpuNttResult result;
  result.values.resize(n);
  PROOFMILL_RETURN_IF_ERROR(timer.Download(result.values.data(), values, n));
  // Each run transforms what the one before left: the same work, whatever the values are.
  PROOFMILL_ASSIGN_OR_RETURN(result.seconds, timer.Measure(counts, transform));
  return result;
}

}  // namespace proofmill::engine
