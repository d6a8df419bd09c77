// The memory that an MSM in flight takes, as the kernels cut it on an H200, for planning without a GPU: the
// digits of all scalars, or of a chunk of them, twice and as much again for the sort; buckets; partial sums.

#ifndef PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_WORKSPACE_MODEL_H_
#define PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_WORKSPACE_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/msm_plan.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {

class WorkspaceModel final : public WorkspaceSizes {
 public:
  absl::StatusOr<size_t> BytesFor(BaseSetId id, const kernels::MsmShape& shape) const override {
    if (!error.ok()) return error;
    const bool g2 = id == BaseSetId::kB2;
    const size_t point = g2 ? sizeof(kernels::G2Xyzz) : sizeof(kernels::G1Xyzz);
    const size_t slices = g2 ? 33'792 : 67'584;
    const size_t entries = std::min<uint64_t>(shape.entries_max(), entries_max);
    // Sums of groups of eight, and the products that share an inversion.
    const bool affine = g2 && shape.affine != kernels::MsmAffine::kNever;
    return entries * (affine ? 48 : 24) + shape.buckets() * (8 + point) + 2 * slices * point +
           shape.sets() * 512 * point;
  }

  absl::Status error;
  // Digits that are held at a time.
  uint64_t entries_max = UINT64_MAX;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_WORKSPACE_MODEL_H_
