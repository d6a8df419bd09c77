// The one door through which the engine calls CUDA: every call is checked, counted and can be made to fail in
// a test.
//
// Errors are classified by what they mean for the process:
//   out of memory  one allocation did not fit; the next call works.
//   launch         a wrong configuration or argument: a fault of ours, the context lives.
//   timeout        the device did not finish in time.
//   sticky         the context is lost; every later call of this process fails the same way.
//
// Thread safety: Call() from any thread. FailCall() belongs to tests, before the calls that it is meant for.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_CALLS_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_CALLS_H_

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace proofmill::engine {

enum class CudaErrorClass { kOutOfMemory, kLaunch, kTimeout, kSticky };
CudaErrorClass ClassifyCudaError(cudaError_t error);
// "out of memory", "launch", "timeout", "sticky".
std::string_view CudaErrorClassName(CudaErrorClass error_class);

// OK for cudaSuccess. RESOURCE_EXHAUSTED (reason kOutOfMemory) when memory ran out, INTERNAL (reason
// kDeviceFault) otherwise; the message names the call, CUDA's words and the class.
absl::Status CudaStatus(cudaError_t error, std::string_view what);

class CudaCalls {
 public:
  CudaCalls() = default;
  CudaCalls(const CudaCalls&) = delete;
  CudaCalls& operator=(const CudaCalls&) = delete;

  // Runs `call`, which returns a cudaError_t, and turns the result into a status. `what` names the call in
  // messages.
  template <typename F>
  absl::Status Call(std::string_view what, F&& call) {
    const uint64_t number = calls_.fetch_add(1, std::memory_order_relaxed);
    const bool injected = number == fail_at_.load(std::memory_order_relaxed);
    const cudaError_t error = injected ? injected_ : std::forward<F>(call)();
    if (error != cudaSuccess) NoteError(error);
    return CudaStatus(error, what);
  }

  // Whether a call failed in a way after which none can work any more.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

  // Allocations of device and page-locked memory so far; the owners in cuda_objects.h count theirs.
  uint64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  void CountAllocation() { allocations_.fetch_add(1, std::memory_order_relaxed); }
  // Bytes over the bus so far; whoever copies counts.
  uint64_t host_to_device_bytes() const { return host_to_device_.load(std::memory_order_relaxed); }
  uint64_t device_to_host_bytes() const { return device_to_host_.load(std::memory_order_relaxed); }
  void CountHostToDevice(size_t bytes) { host_to_device_.fetch_add(bytes, std::memory_order_relaxed); }
  void CountDeviceToHost(size_t bytes) { device_to_host_.fetch_add(bytes, std::memory_order_relaxed); }

  // Graphs launched so far; cuda_graph.h counts.
  uint64_t graph_launches() const { return graph_launches_.load(std::memory_order_relaxed); }
  void CountGraphLaunch() { graph_launches_.fetch_add(1, std::memory_order_relaxed); }

  // Calls so far.
  uint64_t count() const { return calls_.load(std::memory_order_relaxed); }
  // Makes the call with number count() + n fail with `error` and not be made.
  void FailCall(uint64_t n, cudaError_t error) {
    injected_ = error;
    fail_at_.store(count() + n, std::memory_order_relaxed);
  }

 private:
  void NoteError(cudaError_t error);

  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> allocations_{0};
  std::atomic<uint64_t> host_to_device_{0};
  std::atomic<uint64_t> device_to_host_{0};
  std::atomic<uint64_t> graph_launches_{0};
  std::atomic<uint64_t> fail_at_{UINT64_MAX};
  cudaError_t injected_ = cudaSuccess;
  std::atomic<bool> lost_{false};
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_CALLS_H_
