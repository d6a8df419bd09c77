// What a key and its proofs take of a device's memory: the fastest form that fits, and how many proofs may be
// in flight.
//
// The planner begins with the fastest way for each of the five MSMs and gives way, set by set, where that
// costs the least time a byte.
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
  size_t proof_bytes = 0;  // of one proof in flight, beside MSM workspaces: witness, A, B, C, H
};

struct KeyPlan {
  MsmPlan msms;
  size_t key_bytes = 0;      // as long as the key is resident
  size_t scratch_bytes = 0;  // as long as one of its proofs is in flight
};

// Finds plans for one key. It asks for workspace sizes once, when it is made.
class KeyPlanner {
 public:
  // Errors of MsmOptions().
  static absl::StatusOr<KeyPlanner> Make(const KeySizes& sizes, const WorkspaceSizes& workspaces);

  // Everything resident, and the least that the key can be held and proved in.
  KeyPlan Fastest() const { return PlanOf(Choice{}); }
  KeyPlan Smallest() const;
  // The first plan that `fits`, going from Fastest() to Smallest(); nothing if not even that does.
  std::optional<KeyPlan> Find(const std::function<bool(const KeyPlan&)>& fits) const;

 private:
  using Choice = std::array<size_t, kBaseSetCount>;  // an option of each set
  explicit KeyPlanner(const KeySizes& sizes) : sizes_(sizes) {}
  KeyPlan PlanOf(const Choice& choice) const;
  // Moves one set to its next smaller option, where that costs the least time a byte. False at the end.
  bool GiveWay(Choice& choice) const;

  KeySizes sizes_;
  std::array<std::vector<MsmOption>, kBaseSetCount> options_;
};

// Proofs that may be in flight on a device. With two, one computes while the other waits for the host, at its
// begin and its end. Small circuits leave most of a device idle and gain from more, and their scratch is
// small.
inline constexpr uint32_t kArenasMax = 4;

struct DeviceMemoryState {
  size_t limit = 0;           // for keys and scratch
  size_t resident_bytes = 0;  // of keys
  size_t arena_bytes = 0;     // scratch of one proof in flight, as it is now
};

// The scratch that is to be there once a further key is known.
struct MemoryPlan {
  size_t arena_bytes = 0;
  uint32_t arenas = 1;

  size_t bytes() const { return arena_bytes * arenas; }
};

// Room for a second proof is taken only where that costs no key anything, for more only where all of it is at
// most an eighth of the limit.
//   RESOURCE_EXHAUSTED  (reason kOutOfMemory) the key does not fit, even alone; the message names the bytes.
absl::StatusOr<MemoryPlan> PlanMemory(const std::string& device, const KeyPlanner& planner,
                                      const DeviceMemoryState& now);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_KEY_PLAN_H_
