// What a key and its proofs take of a device's memory: the fastest form that fits, and how many proofs may be
// in flight.
//
// The planner begins with the fastest way for each of the five MSMs, side by side, and gives way, set by set,
// where that costs the least time a byte. It does the same for MSMs that take turns in one workspace, of many
// sizes, and lists all plans that it comes by.
//
// Thread safety: immutable once made, and pure functions.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_KEY_PLAN_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_KEY_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/backend/cuda/msm_plan.h"

namespace proofmill::engine {

// What a key takes beside the points of its MSMs.
struct KeySizes {
  BaseCounts bases{};
  size_t key_bytes = 0;    // matrices, index lists, transform tables
  size_t proof_bytes = 0;  // of one proof in flight, beside MSM workspaces: witness, A, B, C and H, sums
};

struct KeyPlan {
  MsmPlan msms;
  size_t key_bytes = 0;      // as long as the key is resident
  size_t scratch_bytes = 0;  // as long as one of its proofs is in flight
  double seconds = 0;        // of a model: the MSMs of one proof, uniform scalars, one H200
  // Proofs of the key that are made together, and what they take as long as they are in flight. Of the
  // fastest plan only: where memory is short there are no batches.
  uint32_t batch_max = 1;
  size_t batch_scratch_bytes = 0;
};

// Finds plans for one key. It asks for workspace sizes once, when it is made.
class KeyPlanner {
 public:
  // Errors of MsmOptions().
  static absl::StatusOr<KeyPlanner> Make(const KeySizes& sizes, const WorkspaceSizes& workspaces);

  // Everything resident, and the least that the key can be held and proved in.
  const KeyPlan& Fastest() const { return plans_.front(); }
  const KeyPlan& Smallest() const { return smallest_; }
  // The fastest plan that `fits`; nothing if not even the smallest does.
  std::optional<KeyPlan> Find(const std::function<bool(const KeyPlan&)>& fits) const;

 private:
  KeyPlanner() = default;
  std::vector<KeyPlan> plans_;  // fastest first, never empty
  KeyPlan smallest_;            // of plans_
};

// Proofs that may be in flight on a device. With two, one computes while the other waits for the host, at its
// begin and its end. Small circuits leave most of a device idle and gain from more, and their scratch is
// small.
inline constexpr uint32_t kArenasMax = 8;

struct DeviceMemoryState {
  size_t limit = 0;           // for keys and scratch
  size_t resident_bytes = 0;  // of keys
  size_t arena_bytes = 0;     // scratch that any one proof in flight needs
  size_t batch_bytes = 0;     // scratch that any batch could use
  size_t key_bytes_min = 0;   // the most that a key known before needs in its smallest form
};

// The scratch that is to be there once a further key is known.
struct MemoryPlan {
  size_t arena_bytes = 0;
  uint32_t arenas = 1;
  size_t arena_bytes_min = 0;  // for proofs that are made alone
  size_t batch_bytes = 0;      // for batches of all keys; may be more than is to be there

  size_t bytes() const { return arena_bytes * arenas; }
};

// Room for a second proof is taken only where that costs no key anything, for more, and for batches, only
// where all of it is at most an eighth of the limit.
//   RESOURCE_EXHAUSTED  (reason kOutOfMemory) the key does not fit, even alone; the message names the bytes.
absl::StatusOr<MemoryPlan> PlanMemory(const std::string& device, const KeyPlanner& planner,
                                      const DeviceMemoryState& now);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_KEY_PLAN_H_
