#include "engine/backend/cuda/proof_scratch.h"

#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

constexpr size_t kAlignment = 256;

constexpr size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Hands out aligned parts of one block; with a null block it only counts.
class Cutter {
 public:
  explicit Cutter(void* memory) : memory_(static_cast<char*>(memory)) {}
  void* Take(size_t bytes) {
    void* part = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += Aligned(bytes);
    return part;
  }
  template <typename T>
  void Take(T*& part, size_t count) {
    part = static_cast<T*>(Take(count * sizeof(T)));
  }
  size_t used() const { return used_; }

 private:
  char* memory_;
  size_t used_ = 0;
};

template <typename F>
absl::Status TakeWorkspace(CudaCalls& calls, Cutter& cutter, const kernels::MsmShape& shape,
                           uint32_t slices_max, kernels::MsmWorkspace<F>& workspace,
                           kernels::Xyzz<F>*& sums) {
  size_t bytes = 0;
  PROOFMILL_RETURN_IF_ERROR(
      calls.Call("msm workspace", [&] { return kernels::MsmWorkspaceBytes<F>(shape, slices_max, &bytes); }));
  void* memory = cutter.Take(bytes);
  cutter.Take(sums, shape.parts());
  if (memory == nullptr) return absl::OkStatus();
  return calls.Call("msm workspace",
                    [&] { return kernels::MsmCutWorkspace<F>(shape, slices_max, memory, &workspace); });
}

}  // namespace

size_t ProofVectorBytes(uint32_t n_vars, uint32_t domain_size) {
  return Aligned(n_vars * sizeof(kernels::U256)) + Aligned(size_t{3} * domain_size * sizeof(kernels::Fr)) +
         Aligned(domain_size * sizeof(kernels::U256));
}

absl::StatusOr<size_t> DeviceWorkspaceSizes::BytesFor(BaseSetId id, const kernels::MsmShape& shape) const {
  size_t bytes = 0;
  if (id == BaseSetId::kB2) {
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm workspace", [&] {
      return kernels::MsmWorkspaceBytes<kernels::Fq2>(shape, g2_slices_max_, &bytes);
    }));
    return Aligned(bytes) + Aligned(shape.parts() * sizeof(kernels::G2Xyzz));
  }
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm workspace", [&] {
    return kernels::MsmWorkspaceBytes<kernels::Fq>(shape, g1_slices_max_, &bytes);
  }));
  return Aligned(bytes) + Aligned(shape.parts() * sizeof(kernels::G1Xyzz));
}

absl::StatusOr<ProofScratch> CutProofScratch(CudaCalls& calls, const ScratchShape& shape, void* memory) {
  ProofScratch scratch;
  Cutter cutter(memory);
  cutter.Take(scratch.witness, shape.n_vars);
  cutter.Take(scratch.abc, size_t{3} * shape.domain_size);
  cutter.Take(scratch.h, shape.domain_size);
  for (const BaseSetId id : {BaseSetId::kA, BaseSetId::kB1, BaseSetId::kC, BaseSetId::kH}) {
    const auto set = static_cast<size_t>(id);
    PROOFMILL_RETURN_IF_ERROR(TakeWorkspace(calls, cutter, shape.plan.shapes[set], shape.g1_slices_max,
                                            scratch.g1[set], scratch.g1_sums[set]));
  }
  PROOFMILL_RETURN_IF_ERROR(TakeWorkspace(calls, cutter, shape.plan.shape(BaseSetId::kB2),
                                          shape.g2_slices_max, scratch.b2, scratch.b2_sums));
  scratch.bytes = cutter.used();
  return scratch;
}

}  // namespace proofmill::engine
