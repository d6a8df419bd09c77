#include "engine/backend/cuda/whir_graphs.h"

#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

// A recording that is under way; ends with its life, so that a failed one leaves the stream usable.
class Recording {
 public:
  Recording(CudaCalls& calls, cudaStream_t stream) : calls_(calls), stream_(stream) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (!under_way_) return;
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &graph));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
  }

  absl::Status Begin() {
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaStreamBeginCapture", [&] {
      return cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
    }));
    under_way_ = true;
    return absl::OkStatus();
  }
  absl::Status End(std::vector<cudaGraphExec_t>& out) {
    cudaGraph_t graph = nullptr;
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaStreamEndCapture", [&] { return cudaStreamEndCapture(stream_, &graph); }));
    under_way_ = false;
    cudaGraphExec_t executable = nullptr;
    const absl::Status made =
        calls_.Call("cudaGraphInstantiate", [&] { return cudaGraphInstantiate(&executable, graph, 0); });
    static_cast<void>(cudaGraphDestroy(graph));
    PROOFMILL_RETURN_IF_ERROR(made);
    out.push_back(executable);
    return absl::OkStatus();
  }

 private:
  CudaCalls& calls_;
  const cudaStream_t stream_;
  bool under_way_ = false;
};

}  // namespace

WhirGraphs::~WhirGraphs() {
  for (cudaGraphExec_t round : rounds_) static_cast<void>(cudaGraphExecDestroy(round));
}

absl::StatusOr<WhirGraphs> WhirGraphs::Record(WhirRunContext context) {
  WhirGraphs out;
  Recording recording(context.calls, context.stream);
  context.begin_stage = [](double WhirTimes::*) { return absl::OkStatus(); };
  context.begin_round = [&]() -> absl::Status {
    PROOFMILL_RETURN_IF_ERROR(recording.End(out.rounds_));
    return recording.Begin();
  };
  PROOFMILL_RETURN_IF_ERROR(recording.Begin());
  PROOFMILL_RETURN_IF_ERROR(EnqueueWhirProof(context));
  PROOFMILL_RETURN_IF_ERROR(recording.End(out.rounds_));
  return out;
}

absl::Status WhirGraphs::Launch(CudaCalls& calls, size_t i, cudaStream_t stream) const {
  return calls.Call("cudaGraphLaunch", [&] { return cudaGraphLaunch(rounds_[i], stream); });
}

}  // namespace proofmill::engine
