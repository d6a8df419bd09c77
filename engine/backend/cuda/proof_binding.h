// A key and an arena, as long as both stay where they are: where the parts of the arena's scratch lie for a
// proof with this key or a batch of them, and the launches of its MSMs.
//
// An MSM whose list of digits is padded is the same work whatever the witness is. Where the MSMs of a key are
// done side by side, those are recorded as graphs when the key meets the arena for the first time: a proof
// launches each by one call, allocates nothing, and the host looks at nothing in between.
//
// Thread safety: one proof or batch at a time.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_BINDING_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_BINDING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_graph.h"
#include "engine/backend/cuda/device_key.h"
#include "engine/backend/cuda/msm_plan.h"
#include "engine/backend/cuda/proof_scratch.h"
#include "engine/backend/cuda/worker_resources.h"

namespace proofmill::engine {

class ProofBinding {
 public:
  // `generation` names the arena that `resources` and `memory` belong to, as it is now; `shape` has the
  // number of proofs.
  //   INTERNAL  the scratch does not fit in memory.
  //   otherwise errors of CUDA calls.
  static absl::StatusOr<std::unique_ptr<ProofBinding>> Make(CudaCalls& calls, WorkerResources& resources,
                                                            const DeviceBuffer<uint8_t>& memory,
                                                            uint64_t generation, const ScratchShape& shape,
                                                            const DeviceKey& key);

  uint64_t generation() const { return generation_; }
  const DeviceKey& key() const { return key_; }
  const MsmPlan& plan() const { return plan_; }
  kernels::DeviceWitnesses witnesses() const { return {scratch_.witness, n_vars_, plan_.batch()}; }
  const ProofScratch& scratch() const { return scratch_; }

  // The digits of a chunk of a set; its buckets, `entries` as for LaunchMsmBuckets(); the sum of all, and its
  // copy to the host.
  absl::Status LaunchDigits(BaseSetId id, uint32_t chunk, cudaStream_t stream) const;
  absl::Status LaunchBuckets(BaseSetId id, uint32_t chunk, uint32_t entries, cudaStream_t stream) const;
  absl::Status LaunchResult(BaseSetId id, cudaStream_t stream) const;
  // Bytes that LaunchResult() copies, of all proofs.
  size_t ResultBytes(BaseSetId id) const;
  // All three in one, but for kH, whose digits are launched alone. Empty where the host has to do it step by
  // step.
  const Graph& graph(BaseSetId id) const { return graphs_[static_cast<size_t>(id)]; }
  // Copies the length of the list of digits to the host. REQUIRES: it is not padded.
  absl::Status LaunchCopyOfCount(BaseSetId id, cudaStream_t stream) const;

 private:
  ProofBinding(CudaCalls& calls, WorkerResources& resources, uint64_t generation, const DeviceKey& key,
               const ScratchShape& shape, const ProofScratch& scratch)
      : calls_(calls),
        resources_(resources),
        generation_(generation),
        key_(key),
        plan_(shape.plan),
        n_vars_(shape.n_vars),
        domain_size_(shape.domain_size),
        scratch_(scratch) {}
  absl::Status CaptureGraphs();
  const kernels::MsmShape& shape(BaseSetId id) const { return plan_.shape(id); }

  CudaCalls& calls_;
  WorkerResources& resources_;
  const uint64_t generation_;
  const DeviceKey& key_;
  const MsmPlan plan_;
  const uint32_t n_vars_;
  const uint32_t domain_size_;
  const ProofScratch scratch_;
  std::array<Graph, kBaseSetCount> graphs_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_BINDING_H_
