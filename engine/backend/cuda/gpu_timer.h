// The clock of benchmarks on the first GPU: a stream, and two events around what is timed.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_GPU_TIMER_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_GPU_TIMER_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/gpu_bench.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

class GpuTimer {
 public:
  static absl::StatusOr<GpuTimer> Make(CudaCalls& calls) {
    PROOFMILL_RETURN_IF_ERROR(CountCudaDevices().status());
    GpuTimer timer(calls);
    PROOFMILL_ASSIGN_OR_RETURN(timer.stream_, Stream::Make(calls, 0));
    PROOFMILL_ASSIGN_OR_RETURN(timer.begin_, Event::Make(calls));
    PROOFMILL_ASSIGN_OR_RETURN(timer.end_, Event::Make(calls));
    return timer;
  }

  // Calls `run` warmup + runs times and returns the times of the last `runs`.
  absl::StatusOr<std::vector<double>> Measure(const BenchCounts& counts,
                                              const std::function<absl::Status(cudaStream_t)>& run) {
    std::vector<double> seconds;
    for (uint64_t i = 0; i < counts.warmup + counts.runs; ++i) {
      PROOFMILL_RETURN_IF_ERROR(Record(begin_));
      PROOFMILL_RETURN_IF_ERROR(run(stream_.get()));
      PROOFMILL_RETURN_IF_ERROR(Record(end_));
      PROOFMILL_RETURN_IF_ERROR(Wait());
      float milliseconds = 0;
      PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaEventElapsedTime", [&] {
        return cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get());
      }));
      if (i >= counts.warmup) seconds.push_back(double{milliseconds} / 1e3);
    }
    return seconds;
  }

  absl::Status Wait() {
    return calls_.Call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_.get()); });
  }
  template <typename T>
  absl::Status Upload(const DeviceBuffer<T>& target, const T* source, size_t count) {
    return Copy(target.data(), source, count * sizeof(T), cudaMemcpyHostToDevice);
  }
  template <typename T>
  absl::Status Download(T* target, const DeviceBuffer<T>& source, size_t count) {
    return Copy(target, source.data(), count * sizeof(T), cudaMemcpyDeviceToHost);
  }
  cudaStream_t stream() const { return stream_.get(); }
  CudaCalls& calls() const { return calls_; }

 private:
  explicit GpuTimer(CudaCalls& calls) : calls_(calls) {}
  absl::Status Record(const Event& event) {
    return calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(event.get(), stream_.get()); });
  }
  absl::Status Copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return absl::OkStatus();
    PROOFMILL_RETURN_IF_ERROR(calls_.Call(
        "cudaMemcpyAsync", [&] { return cudaMemcpyAsync(target, source, bytes, kind, stream_.get()); }));
    return Wait();
  }

  CudaCalls& calls_;
  Stream stream_;
  Event begin_, end_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_GPU_TIMER_H_
