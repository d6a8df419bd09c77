// The device memory of one proof in flight, or of a batch of them, cut from an arena that is sized when a key
// is loaded: a proof allocates nothing.
//
// Everything in it is secret or derived from secrets; the backend wipes it after each proof.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_SCRATCH_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_SCRATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/msm_plan.h"
#include "kernels/cuda/msm.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// What decides the size of the scratch. The plan has the number of proofs.
struct ScratchShape {
  uint32_t n_vars = 0;
  uint32_t domain_size = 0;
  MsmPlan plan;
  uint32_t g1_slices_max = 0;
  uint32_t g2_slices_max = 0;
};

struct ProofScratch {
  // Of each proof n_vars values of the witness and 3 * domain_size of A, B and C, H in the place of C.
  kernels::U256* witness = nullptr;
  kernels::Fr* abc = nullptr;
  kernels::U256* h = nullptr;
  std::array<kernels::MsmWorkspace<kernels::Fq>, kBaseSetCount> g1;  // the place of kB2 stays empty
  kernels::MsmWorkspace<kernels::Fq2> b2;
  std::array<kernels::G1Xyzz*, kBaseSetCount> g1_sums{};  // kMsmPartsMax points a proof
  kernels::G2Xyzz* b2_sums = nullptr;
  size_t bytes = 0;  // of all of it
};

// Bytes of the parts that do not depend on the shapes: witnesses, A, B, C and H, and the sums.
struct VectorSizes {
  uint32_t n_vars = 0;
  uint32_t domain_size = 0;
  uint32_t proofs = 1;
};
size_t ProofVectorBytes(const VectorSizes& sizes);

// What the MSM kernels of one device ask for, as CutProofScratch() takes it: for all sets together, or where
// they take turns, for the one that asks for most. The device must be current.
class DeviceWorkspaceSizes final : public WorkspaceSizes {
 public:
  DeviceWorkspaceSizes(CudaCalls& calls, uint32_t g1_slices_max, uint32_t g2_slices_max)
      : calls_(calls), g1_slices_max_(g1_slices_max), g2_slices_max_(g2_slices_max) {}
  absl::StatusOr<size_t> BytesFor(BaseSetId id, const kernels::MsmShape& shape) const override;

 private:
  CudaCalls& calls_;
  const uint32_t g1_slices_max_;
  const uint32_t g2_slices_max_;
};

// Cuts `memory` in the parts that `shape` needs; with null memory only `bytes` is set.
absl::StatusOr<ProofScratch> CutProofScratch(CudaCalls& calls, const ScratchShape& shape, void* memory);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_SCRATCH_H_
