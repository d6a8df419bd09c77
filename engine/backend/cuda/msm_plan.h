// How the five MSMs of a circuit are done within a budget of device memory: the window of each base set and
// how many multiples of each base stay resident.
//
// With all multiples 2^(c*j) * P resident one bucket set serves every window; with fewer, the bucket sets
// multiply. The planner starts from all multiples and halves those of the largest set until the tables fit.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_MSM_PLAN_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_MSM_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/cuda/msm.h"

namespace proofmill::engine {

enum class BaseSetId { kA, kB1, kB2, kC, kH };
inline constexpr size_t kBaseSetCount = 5;
inline constexpr std::array<const char*, kBaseSetCount> kBaseSetNames = {"a", "b1", "b2", "c", "h"};

using BaseCounts = std::array<uint32_t, kBaseSetCount>;

struct MsmPlan {
  std::array<kernels::MsmShape, kBaseSetCount> shapes;

  const kernels::MsmShape& shape(BaseSetId id) const { return shapes[static_cast<size_t>(id)]; }
  // Bytes of one set's resident multiples, and of all.
  size_t table_bytes(size_t set) const;
  size_t table_bytes() const;
  // "a: 1048576 bases, 17-bit windows, 15 of 15 multiples, 960 MiB; b1: ...".
  std::string ToString() const;
};

// The window for a set of `bases` points of which all multiples are resident.
uint32_t WindowBits(uint32_t bases);

// The plan for these sets whose tables take at most `table_bytes_max`.
//   RESOURCE_EXHAUSTED  (reason kOutOfMemory) not even the bases themselves fit.
absl::StatusOr<MsmPlan> PlanMsms(const BaseCounts& counts, size_t table_bytes_max);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_MSM_PLAN_H_
