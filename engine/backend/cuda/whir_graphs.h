// The work of a WHIR proof as graphs, one for each round: all launches of a round are one submission.
//
// Everything that differs between proofs of the same parameters is in device memory, so graphs are made once
// and launched for every proof with as many claims.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_GRAPHS_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_GRAPHS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/whir_run.h"

namespace proofmill::engine {

class WhirGraphs {
 public:
  WhirGraphs() = default;
  WhirGraphs(WhirGraphs&& other) noexcept : rounds_(std::exchange(other.rounds_, {})) {}
  WhirGraphs& operator=(WhirGraphs&& other) noexcept {
    std::swap(rounds_, other.rounds_);
    return *this;
  }
  ~WhirGraphs();

  // Records EnqueueWhirProof(context), whose begin_round is not called; context.stream is only used to record
  // and does nothing meanwhile.
  //   RESOURCE_EXHAUSTED, INTERNAL  as CudaStatus().
  static absl::StatusOr<WhirGraphs> Record(WhirRunContext context);

  size_t size() const { return rounds_.size(); }
  // Enqueues part i: 0 is what comes before the first round.
  absl::Status Launch(CudaCalls& calls, size_t i, cudaStream_t stream) const;

 private:
  std::vector<cudaGraphExec_t> rounds_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_GRAPHS_H_
