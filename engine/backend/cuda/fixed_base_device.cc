#include "engine/backend/cuda/fixed_base_device.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cuda/fixed_base.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::FixedBaseTable;
using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;

constexpr size_t kCopyGrain = size_t{1} << 13;  // elements; 256 KiB to 1 MiB, which one core takes 0.1 ms for

template <typename T>
void ParallelCopy(T* target, const T* source, size_t count) {
  kernels::ParallelFor(0, count, kCopyGrain, [&](size_t begin, size_t end) {
    std::memcpy(target + begin, source + begin, (end - begin) * sizeof(T));
  });
}

// What one group needs: the multiples of its generator, and room for the points of a chunk.
template <typename F>
struct Group {
  DeviceBuffer<Affine<F>> multiples;
  DeviceBuffer<Affine<F>> points;
  PinnedBuffer<Affine<F>> staged_points;
};

class Multiplier final : public CudaFixedBaseMultiplier {
 public:
  explicit Multiplier(const CudaFixedBaseOptions& options)
      : device_(options.device), chunk_(options.chunk), name_(absl::StrCat("cuda:", options.device)) {}

  absl::Status Initialise() {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    PROOFMILL_ASSIGN_OR_RETURN(stream_, Stream::Make(calls_, 0));
    PROOFMILL_ASSIGN_OR_RETURN(scalars_, DeviceBuffer<Fr>::Make(calls_, chunk_));
    PROOFMILL_ASSIGN_OR_RETURN(staged_scalars_, PinnedBuffer<Fr>::Make(calls_, chunk_));
    PROOFMILL_RETURN_IF_ERROR(InitialiseGroup(kernels::kG1Generator, g1_));
    PROOFMILL_RETURN_IF_ERROR(InitialiseGroup(kernels::kG2Generator, g2_));
    PROOFMILL_RETURN_IF_ERROR(Wipe());
    const absl::Status code = Launch(g1_, 1);
    if (code.ok()) return Wait();
    // This build has no code for the device.
    return WithReason(absl::FailedPreconditionError(absl::StrCat(name_, ": ", code.message())),
                      ErrorReason::kNoDevice);
  }

  std::string_view name() const override { return name_; }
  CudaCalls& calls() override { return calls_; }

  absl::Status Multiply(absl::Span<const Fr> scalars, kernels::G1Affine* out) override {
    return MultiplyAll(g1_, scalars, out);
  }
  absl::Status Multiply(absl::Span<const Fr> scalars, kernels::G2Affine* out) override {
    return MultiplyAll(g2_, scalars, out);
  }

  absl::StatusOr<std::string> ReadScalars() override {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    std::string out(scalars_.size_bytes(), '\0');
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaMemcpy", [&] {
      return cudaMemcpy(out.data(), scalars_.data(), out.size(), cudaMemcpyDeviceToHost);
    }));
    return out;
  }

 private:
  template <typename F>
  absl::Status InitialiseGroup(const Affine<F>& generator, Group<F>& group) {
    const FixedBaseTable<F> table(generator);
    const std::vector<Affine<F>>& multiples = table.multiples();
    PROOFMILL_ASSIGN_OR_RETURN(group.multiples, DeviceBuffer<Affine<F>>::Make(calls_, multiples.size()));
    PROOFMILL_ASSIGN_OR_RETURN(group.points, DeviceBuffer<Affine<F>>::Make(calls_, chunk_));
    PROOFMILL_ASSIGN_OR_RETURN(group.staged_points, PinnedBuffer<Affine<F>>::Make(calls_, chunk_));
    calls_.CountHostToDevice(group.multiples.size_bytes());
    return calls_.Call("cudaMemcpy", [&] {
      return cudaMemcpy(group.multiples.data(), multiples.data(), group.multiples.size_bytes(),
                        cudaMemcpyHostToDevice);
    });
  }

  template <typename F>
  absl::Status MultiplyAll(const Group<F>& group, absl::Span<const Fr> scalars, Affine<F>* out) {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    absl::Status status;
    for (size_t first = 0; first < scalars.size() && status.ok(); first += chunk_) {
      status = MultiplyChunk(group, scalars.subspan(first, chunk_), out + first);
    }
    // Also waits for whatever an error has left in the stream.
    const absl::Status wiped = Wipe();
    return status.ok() ? wiped : status;
  }

  // REQUIRES: at most chunk_ scalars.
  template <typename F>
  absl::Status MultiplyChunk(const Group<F>& group, absl::Span<const Fr> scalars, Affine<F>* out) {
    const size_t n = scalars.size();
    ParallelCopy(staged_scalars_.data(), scalars.data(), n);
    PROOFMILL_RETURN_IF_ERROR(
        Copy(scalars_.data(), staged_scalars_.data(), n * sizeof(Fr), cudaMemcpyHostToDevice));
    calls_.CountHostToDevice(n * sizeof(Fr));
    PROOFMILL_RETURN_IF_ERROR(Launch(group, n));
    PROOFMILL_RETURN_IF_ERROR(
        Copy(group.staged_points.data(), group.points.data(), n * sizeof(Affine<F>), cudaMemcpyDeviceToHost));
    calls_.CountDeviceToHost(n * sizeof(Affine<F>));
    PROOFMILL_RETURN_IF_ERROR(Wait());
    ParallelCopy(out, group.staged_points.data(), n);
    return absl::OkStatus();
  }

  template <typename F>
  absl::Status Launch(const Group<F>& group, size_t n) {
    const kernels::DeviceFixedBase<F> base{FixedBaseTable<F>::Digits(), group.multiples.data()};
    return calls_.Call("multiples of a generator", [&] {
      return kernels::LaunchFixedBaseMultiply<F>(base, scalars_.data(), static_cast<uint32_t>(n),
                                                 group.points.data(), stream_.get());
    });
  }

  absl::Status Wipe() {
    const absl::Status wiped = calls_.Call("cudaMemsetAsync", [&] {
      return cudaMemsetAsync(scalars_.data(), 0, scalars_.size_bytes(), stream_.get());
    });
    const absl::Status waited = Wait();
    return wiped.ok() ? waited : wiped;
  }

  absl::Status Copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    return calls_.Call("cudaMemcpyAsync",
                       [&] { return cudaMemcpyAsync(target, source, bytes, kind, stream_.get()); });
  }
  absl::Status Wait() {
    return calls_.Call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_.get()); });
  }

  const int device_;
  const size_t chunk_;
  const std::string name_;
  CudaCalls calls_;
  Stream stream_;
  DeviceBuffer<Fr> scalars_;
  PinnedBuffer<Fr> staged_scalars_;
  Group<Fq> g1_;
  Group<Fq2> g2_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaFixedBaseMultiplier>> MakeCudaFixedBaseMultiplier(
    const CudaFixedBaseOptions& options) {
  PROOFMILL_ASSIGN_OR_RETURN(const int count, CountCudaDevices());
  if (options.device < 0 || options.device >= count) {
    return WithReason(absl::FailedPreconditionError(absl::StrCat("cuda: expected a device number from 0 to ",
                                                                 count - 1, ", got ", options.device)),
                      ErrorReason::kNoDevice);
  }
  auto multiplier = std::make_unique<Multiplier>(options);
  PROOFMILL_RETURN_IF_ERROR(multiplier->Initialise());
  return std::unique_ptr<CudaFixedBaseMultiplier>(std::move(multiplier));
}

}  // namespace proofmill::engine
