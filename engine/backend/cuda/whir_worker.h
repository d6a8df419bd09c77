// Makes the WHIR proofs of one set of parameters on one GPU, with memory that is given and taken away between
// proofs. Streams, events and page-locked memory are made once and stay.
//
// Thread safety: one call at a time.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_WORKER_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_graph.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/pinned_upload.h"
#include "engine/backend/cuda/whir_memory.h"
#include "engine/backend/cuda/whir_places.h"
#include "engine/backend/cuda/whir_run.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"
#include "kernels/field/babybear.h"

namespace proofmill::engine {

class WhirStageClock;

class WhirWorker {
 public:
  // REQUIRES: the device is current, here and in every other call. `calls` outlives the worker.
  static absl::StatusOr<std::unique_ptr<WhirWorker>> Make(CudaCalls& calls, const WhirConfig& config);
  WhirWorker(const WhirWorker&) = delete;
  WhirWorker& operator=(const WhirWorker&) = delete;

  // Bytes of device memory for proofs of up to `claims` claims.
  size_t BytesFor(size_t claims) const { return WhirMemory::BytesFor(config_, places_, claims); }
  // Takes that memory in the place of what there was. Errors as CudaStatus().
  absl::Status TakeMemory(size_t claims);
  void DropMemory();

  size_t device_bytes() const { return memory_.size_bytes(); }
  size_t claims() const { return memory_.claims(); }
  const WhirConfig& config() const { return config_; }

  // As WhirDevice. REQUIRES: there is memory for so many claims.
  absl::StatusOr<WhirProof> Prove(absl::Span<const kernels::BabyBear> polynomial,
                                  absl::Span<const WhirClaim> claims, const WhirProveOptions& options);
  absl::StatusOr<WhirElements> Evaluate(absl::Span<const kernels::BabyBear> polynomial,
                                        absl::Span<const WhirClaim> claims);

 private:
  WhirWorker(CudaCalls& calls, const WhirConfig& config)
      : calls_(calls), config_(config), places_(PlaceWhirProof(config)) {}
  absl::Status Initialise();

  // Up to the arrival of the proof's words. `clock`: null if nobody asks for stages.
  absl::Status Run(absl::Span<const kernels::BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                   const WhirProveOptions& options, WhirStageClock* clock);
  // Makes the graphs for proofs like this one, one for each part, unless they are those of the last.
  absl::Status Record(const WhirRunContext& context);
  absl::Status UploadWords(uint32_t* target, absl::Span<const kernels::BabyBear> words);
  absl::Status UploadStatement(absl::Span<const WhirClaim> claims);
  // What the host writes from the sponge on, in one copy.
  std::vector<uint32_t> Head(absl::Span<const WhirClaim> claims) const;
  absl::Status WipeUploads();
  absl::Status EnqueueValues(absl::Span<const WhirClaim> claims);
  absl::Status Copy(uint32_t* to, const uint32_t* from, size_t words);
  // Notes on the device that the parts up to `part` have ended.
  absl::Status MarkPart(size_t part);
  absl::Status ReportParts(StageSink& sink) const;
  // What `run` says, once nothing of it is at work any more and what it left is overwritten.
  absl::Status End(const absl::Status& run);
  static absl::Status NoNonce(const WhirProveOptions& options);

  CudaCalls& calls_;
  const WhirConfig config_;
  const WhirPlaces places_;
  Stream stream_;
  std::unique_ptr<PinnedUpload> upload_;  // of the polynomial
  std::unique_ptr<PinnedUpload> head_;    // of what Head() makes, once there is memory
  PinnedBuffer<uint32_t> download_;       // the proof, or values
  Event round_done_;
  std::vector<Event> marks_;  // the begin, the arrival of the polynomial, the end of each part
  WhirMemory memory_;
  std::vector<Graph> graphs_;  // of the parts of a proof
  size_t recorded_claims_ = 0;
  uint32_t recorded_end_ = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_WORKER_H_
