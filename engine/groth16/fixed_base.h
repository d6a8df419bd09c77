// Many multiples of the generators of G1 and G2, which is what a set-up spends its time on: the seam behind
// which a GPU can do it (engine/backend/select.h chooses).
//
// All implementations give the same points, and so the same keys.
//
// Thread safety: one call at a time for each object, from any thread.

#ifndef PROOFMILL_ENGINE_GROTH16_FIXED_BASE_H_
#define PROOFMILL_ENGINE_GROTH16_FIXED_BASE_H_

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

class FixedBaseMultiplier {
 public:
  virtual ~FixedBaseMultiplier() = default;
  // "cpu" or "cuda:0".
  virtual std::string_view name() const = 0;

  // out[i] = scalars[i] * generator for every scalar, in affine form, infinity for zero. After an error `out`
  // holds anything.
  //   RESOURCE_EXHAUSTED, INTERNAL  a device failed.
  virtual absl::Status Multiply(absl::Span<const kernels::Fr> scalars, kernels::G1Affine* out) = 0;
  virtual absl::Status Multiply(absl::Span<const kernels::Fr> scalars, kernels::G2Affine* out) = 0;
};

// On the threads of the caller's arena. Never fails.
std::unique_ptr<FixedBaseMultiplier> MakeCpuFixedBaseMultiplier();

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_FIXED_BASE_H_
