// Work on a device that is described once and launched by one call, many times.
//
// Thread safety: as the CUDA handle inside.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_GRAPH_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_GRAPH_H_

#include <cuda_runtime_api.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~Graph() {
    if (graph_ != nullptr) static_cast<void>(cudaGraphExecDestroy(graph_));
  }

  // What `enqueue`, which returns an absl::Status, puts on `stream`, and on no other, becomes a graph;
  // nothing of it runs. REQUIRES: nobody else uses the stream meanwhile; `enqueue` neither waits nor
  // allocates.
  template <typename F>
  static absl::StatusOr<Graph> Capture(CudaCalls& calls, cudaStream_t stream, F&& enqueue) {
    Description description;
    {
      Recording recording;
      PROOFMILL_RETURN_IF_ERROR(recording.Begin(calls, stream));
      PROOFMILL_RETURN_IF_ERROR(std::forward<F>(enqueue)());
      PROOFMILL_RETURN_IF_ERROR(recording.End(calls, description.graph));
    }
    Graph graph;
    PROOFMILL_RETURN_IF_ERROR(calls.Call(
        "cudaGraphInstantiate", [&] { return cudaGraphInstantiate(&graph.graph_, description.graph, 0); }));
    return graph;
  }

  // The stream's priority is that of all that is in the graph.
  absl::Status Launch(CudaCalls& calls, cudaStream_t stream) const {
    calls.CountGraphLaunch();
    return calls.Call("cudaGraphLaunch", [&] { return cudaGraphLaunch(graph_, stream); });
  }
  bool empty() const { return graph_ == nullptr; }

 private:
  // The graph before it is instantiated.
  struct Description {
    Description() = default;
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    ~Description() {
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    }
    cudaGraph_t graph = nullptr;
  };

  // A stream that records. Where it is given up for an error the stream is as before, and what was recorded
  // is forgotten.
  class Recording {
   public:
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() {
      if (stream_ == nullptr) return;
      Description forgotten;
      static_cast<void>(cudaStreamEndCapture(stream_, &forgotten.graph));
      static_cast<void>(cudaGetLastError());  // says what is known: the recording is not whole
    }
    absl::Status Begin(CudaCalls& calls, cudaStream_t stream) {
      // Relaxed: kernels may be loaded on first use meanwhile, and other threads may do what they like.
      PROOFMILL_RETURN_IF_ERROR(calls.Call("cudaStreamBeginCapture", [&] {
        return cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
      }));
      stream_ = stream;
      return absl::OkStatus();
    }
    absl::Status End(CudaCalls& calls, cudaGraph_t& graph) {
      return calls.Call("cudaStreamEndCapture",
                        [&] { return cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph); });
    }

   private:
    cudaStream_t stream_ = nullptr;
  };

  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_CUDA_GRAPH_H_
