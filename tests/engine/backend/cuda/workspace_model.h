// The memory that an MSM in flight takes, as the kernels cut it on an H200, for planning without a GPU: the
// digits of a chunk of the scalars, twice for the sort; buckets; partial sums.

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
    const uint64_t entries = shape.entries_max();
    const uint64_t slices = std::min<uint64_t>(g2 ? 67'584 : 135'168, entries / 4 + 1);
    // Sums of groups of eight, and the products that share an inversion.
    const bool affine = g2 && shape.affine != kernels::MsmAffine::kNever && entries / 32 >= shape.buckets();
    return entries * (affine ? 40 : 16) + shape.buckets() * (8 + point) + 2 * slices * point +
           size_t{512} * shape.sets() * point;
  }

  absl::Status error;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_WORKSPACE_MODEL_H_
