// One proof on one GPU, or a batch of proofs of one circuit: the order of copies and kernels on the streams
// of an arena.
//
//   main stream  witness up -> gather -> NTT, H -> digits of H -> MSM H
//   set streams  digits of B2, A, B1, C as soon as the witness is there -> their MSMs beside gather and
//                NTT, G2 first
//
// Where memory is short the MSMs share a workspace and take turns on the main stream, by chunks of their
// bases: B2, A, B1, C, then gather and NTT, then H.
//
// The host learns the length of each long digit list (4 bytes each) before it enqueues the sort, so that
// zeros of a witness cost nothing. Short lists are padded: such an MSM is launched at once, side by side with
// others as a graph, one call each. Cancellation is polled at each point where the host waits: for a circuit
// with short lists only, a proof of a few milliseconds, before a sum is joined, when all is on its way. A
// batch, which is of such circuits, is not given up.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_RUN_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_RUN_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/device_key.h"
#include "engine/backend/cuda/proof_binding.h"
#include "engine/backend/cuda/proof_line.h"
#include "engine/backend/cuda/proof_scratch.h"
#include "engine/backend/cuda/worker_resources.h"
#include "engine/base/secure_memory.h"

namespace proofmill::engine {

// How long each stage took, by Stage; of those on the device only.
using StageTimes = std::array<std::chrono::nanoseconds, kStageCount>;
void ReportStages(const StageTimes& times, StageSink* sink);

// What the device leaves of one proof, in the parts that JoinMsmParts() takes. Secret.
struct SumParts {
  std::array<std::array<kernels::G1Xyzz, kernels::kMsmPartsMax>, kBaseSetCount> g1;
  std::array<kernels::G2Xyzz, kernels::kMsmPartsMax> b2;
};
Groth16Sums JoinSums(const MsmPlan& plan, const SumParts& parts);

// A proof of a batch. It wipes what came of it.
class ProofInBatch final : public ProofLine::Member {
 public:
  explicit ProofInBatch(absl::Span<const kernels::U256> values) : witness(values) {}
  ~ProofInBatch() { WipeMemory(&parts, sizeof(parts)); }

  const absl::Span<const kernels::U256> witness;
  bool made = false;  // then there is the rest
  SumParts parts;
  StageTimes stages;
};

class ProofRun {
 public:
  // REQUIRES: `binding` was made with `resources`.
  ProofRun(CudaCalls& calls, WorkerResources& resources, const ProofBinding& binding)
      : calls_(calls),
        resources_(resources),
        binding_(binding),
        scratch_(binding.scratch()),
        key_(binding.key()) {}
  // Wipes what Wipe() would, if an exception from Run() (memory that ran out) came before it.
  ~ProofRun();
  ProofRun(const ProofRun&) = delete;
  ProofRun& operator=(const ProofRun&) = delete;

  // REQUIRES: the binding is for one proof.
  absl::StatusOr<Groth16Sums> Run(absl::Span<const kernels::U256> witness, const ComputeContext& context);
  // REQUIRES: every member is a ProofInBatch, and the binding is for so many.
  absl::Status RunBatch(absl::Span<ProofLine::Member* const> members);

  // Enqueues the wiping of all that the proof may have written on the device, and wipes the host's copies. To
  // be called whatever Run() returned; waits for everything the proof left on its streams.
  absl::Status Wipe();

 private:
  absl::Status Upload(absl::Span<const kernels::U256> witness);
  absl::Status EndUpload();
  // All that a proof does from its witness on the device to its sums, or to where the host is needed.
  absl::Status Launch();
  // The beginning of a set's MSM on `stream`: digits of the first chunk, or all of it where it is a graph.
  absl::Status BeginMsm(BaseSetId id, cudaStream_t stream);
  absl::Status BeginWitnessMsm(BaseSetId id);
  absl::Status LaunchDigits(BaseSetId id, uint32_t chunk, cudaStream_t stream);
  absl::Status LaunchGraph(BaseSetId id);
  // What is left of a set that was begun.
  absl::Status LaunchSum(BaseSetId id);
  absl::Status EndMsm(BaseSetId id);
  // Gather, NTT and the beginning of H's MSM.
  absl::Status LaunchH();
  absl::Status WaitForSum(BaseSetId id);
  // Waits for the four sums of the witness and tells the caller about them.
  absl::Status JoinWitnessSums(WitnessSums& sums, const ComputeContext& context);
  absl::Status WaitAndJoin(BaseSetId id, kernels::G1Xyzz& sum);
  absl::Status Begin(Stage stage, cudaStream_t stream);
  absl::Status End(Stage stage, cudaStream_t stream);
  absl::Status Record(const Event& event, cudaStream_t stream);
  absl::Status Wait(const Event& event);
  // Lets `stream` wait for the event.
  absl::Status Follow(cudaStream_t stream, const Event& event);
  absl::Status CheckWanted() const { return cancel_ == nullptr ? absl::OkStatus() : cancel_->Check(); }
  absl::StatusOr<StageTimes> ReadStageTimes();
  // Of one proof of a batch, once its sums are there.
  void TakeParts(size_t proof, SumParts& out) const;
  // Waits for the streams unless they are idle, then enqueues the wiping of the device.
  absl::Status WipeDevice();
  void WipeStaging();
  const kernels::MsmShape& shape(BaseSetId id) const { return binding_.plan().shape(id); }
  bool in_turn() const { return binding_.plan().in_turn; }
  cudaStream_t stream(BaseSetId id) const {
    return in_turn() ? resources_.main.get() : resources_.sets[static_cast<size_t>(id)].get();
  }

  CudaCalls& calls_;
  WorkerResources& resources_;
  const ProofBinding& binding_;
  const ProofScratch& scratch_;
  const DeviceKey& key_;
  const CancellationToken* cancel_ = nullptr;
  size_t staged_ = 0;          // values in the staging memory
  bool streams_idle_ = false;  // known to be: all sums were waited for
  bool wiped_ = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_RUN_H_
