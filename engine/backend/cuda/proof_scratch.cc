#include "engine/backend/cuda/proof_scratch.h"

#include <algorithm>

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

// The parts that do not depend on the plan.
void TakeVectors(Cutter& cutter, const VectorSizes& sizes, ProofScratch& scratch) {
  cutter.Take(scratch.witness, size_t{sizes.proofs} * sizes.n_vars);
  cutter.Take(scratch.abc, size_t{3} * sizes.proofs * sizes.domain_size);
  if (scratch.abc != nullptr)
    scratch.h = reinterpret_cast<kernels::U256*>(scratch.abc + size_t{2} * sizes.domain_size);
  const size_t parts = size_t{sizes.proofs} * kernels::kMsmPartsMax;
  for (kernels::G1Xyzz*& sums : scratch.g1_sums) cutter.Take(sums, parts);
  cutter.Take(scratch.b2_sums, parts);
}

template <typename F>
absl::StatusOr<size_t> WorkspaceBytes(CudaCalls& calls, const kernels::MsmShape& shape, uint32_t slices_max) {
  size_t bytes = 0;
  PROOFMILL_RETURN_IF_ERROR(
      calls.Call("msm workspace", [&] { return kernels::MsmWorkspaceBytes<F>(shape, slices_max, &bytes); }));
  return Aligned(bytes);
}

}  // namespace

size_t ProofVectorBytes(const VectorSizes& sizes) {
  Cutter cutter(nullptr);
  ProofScratch unused;
  TakeVectors(cutter, sizes, unused);
  return cutter.used();
}

absl::StatusOr<size_t> DeviceWorkspaceSizes::BytesFor(BaseSetId id, const kernels::MsmShape& shape) const {
  return id == BaseSetId::kB2 ? WorkspaceBytes<kernels::Fq2>(calls_, shape, g2_slices_max_)
                              : WorkspaceBytes<kernels::Fq>(calls_, shape, g1_slices_max_);
}

absl::StatusOr<ProofScratch> CutProofScratch(CudaCalls& calls, const ScratchShape& shape, void* memory) {
  ProofScratch scratch;
  Cutter cutter(memory);
  TakeVectors(cutter, {shape.n_vars, shape.domain_size, shape.plan.batch()}, scratch);
  const DeviceWorkspaceSizes sizes(calls, shape.g1_slices_max, shape.g2_slices_max);
  std::array<size_t, kBaseSetCount> bytes{};
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    PROOFMILL_ASSIGN_OR_RETURN(bytes[set],
                               sizes.BytesFor(static_cast<BaseSetId>(set), shape.plan.shapes[set]));
  }
  std::array<void*, kBaseSetCount> workspaces{};
  if (shape.plan.in_turn) {
    workspaces.fill(cutter.Take(*std::max_element(bytes.begin(), bytes.end())));
  } else {
    for (size_t set = 0; set < kBaseSetCount; ++set) workspaces[set] = cutter.Take(bytes[set]);
  }
  scratch.bytes = cutter.used();
  if (memory == nullptr) return scratch;
  for (const BaseSetId id : {BaseSetId::kA, BaseSetId::kB1, BaseSetId::kC, BaseSetId::kH}) {
    const auto set = static_cast<size_t>(id);
    PROOFMILL_RETURN_IF_ERROR(calls.Call("msm workspace", [&] {
      return kernels::MsmCutWorkspace<kernels::Fq>(shape.plan.shapes[set], shape.g1_slices_max,
                                                   workspaces[set], &scratch.g1[set]);
    }));
  }
  PROOFMILL_RETURN_IF_ERROR(calls.Call("msm workspace", [&] {
    return kernels::MsmCutWorkspace<kernels::Fq2>(shape.plan.shape(BaseSetId::kB2), shape.g2_slices_max,
                                                  workspaces[static_cast<size_t>(BaseSetId::kB2)],
                                                  &scratch.b2);
  }));
  return scratch;
}

}  // namespace proofmill::engine
