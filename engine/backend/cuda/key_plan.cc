#include "engine/backend/cuda/key_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

namespace {

using SetOptions = std::array<std::vector<MsmOption>, kBaseSetCount>;

// What an MSM takes besides the model of its additions: launches, and the short chains of its last steps.
// MSMs side by side hide it behind each other (one H200: 0.36 ms for an MSM of 2^13 bases alone).
constexpr double kSecondsPerMsm = 4e-4;

// Batches are worth it where one is computed while another waits for the host.
constexpr uint32_t kBatchArenasMin = 2;

// Plans of one key, from the fastest ways of its sets to the smallest.
class PlanWalk {
 public:
  PlanWalk(const KeySizes& sizes, SetOptions options, bool in_turn)
      : sizes_(sizes), options_(std::move(options)), in_turn_(in_turn) {}

  void AppendTo(std::vector<KeyPlan>& plans) {
    const auto empty = [](const std::vector<MsmOption>& of_set) { return of_set.empty(); };
    if (std::any_of(options_.begin(), options_.end(), empty)) return;
    do {
      plans.push_back(Current());
    } while (GiveWay());
  }

 private:
  KeyPlan Current() const {
    KeyPlan plan{.msms = {},
                 .key_bytes = sizes_.key_bytes,
                 .scratch_bytes = 0,
                 .seconds = in_turn_ ? double{kBaseSetCount} * kSecondsPerMsm : kSecondsPerMsm};
    plan.msms.in_turn = in_turn_;
    size_t workspaces = 0;
    for (size_t set = 0; set < kBaseSetCount; ++set) {
      const MsmOption& option = options_[set][choice_[set]];
      plan.msms.shapes[set] = option.shape;
      plan.key_bytes += option.table_bytes;
      plan.seconds += option.seconds;
      workspaces =
          in_turn_ ? std::max(workspaces, option.workspace_bytes) : workspaces + option.workspace_bytes;
    }
    plan.scratch_bytes = sizes_.proof_bytes + workspaces;
    return plan;
  }

  // Moves one set to its next smaller option, where that costs the least time a byte. False at the end.
  bool GiveWay() {
    size_t chosen = kBaseSetCount;
    double least = 0;
    for (size_t set = 0; set < kBaseSetCount; ++set) {
      if (choice_[set] + 1 == options_[set].size()) continue;
      const MsmOption& now = options_[set][choice_[set]];
      const MsmOption& next = options_[set][choice_[set] + 1];
      const double price = (next.seconds - now.seconds) / static_cast<double>(Bytes(now) - Bytes(next));
      if (chosen == kBaseSetCount || price < least) {
        chosen = set;
        least = price;
      }
    }
    if (chosen == kBaseSetCount) return false;
    ++choice_[chosen];
    return true;
  }

  size_t Bytes(const MsmOption& option) const { return in_turn_ ? option.table_bytes : option.bytes(); }

  const KeySizes& sizes_;
  const SetOptions options_;
  const bool in_turn_;
  std::array<size_t, kBaseSetCount> choice_{};
};

// The largest workspace of any way, and the least that lets every set be held without multiples.
struct WorkspaceRange {
  size_t most = 0;
  size_t least = 0;
};
WorkspaceRange RangeOf(const SetOptions& options) {
  WorkspaceRange range;
  for (const std::vector<MsmOption>& of_set : options) {
    const auto smallest = std::min_element(of_set.begin(), of_set.end(), [](const auto& a, const auto& b) {
      return std::pair(a.table_bytes, a.workspace_bytes) < std::pair(b.table_bytes, b.workspace_bytes);
    });
    range.least = std::max(range.least, smallest->workspace_bytes);
    for (const MsmOption& option : of_set) range.most = std::max(range.most, option.workspace_bytes);
  }
  return range;
}

absl::Status AddBatch(const KeySizes& sizes, const WorkspaceSizes& workspaces, KeyPlan& plan) {
  plan.batch_max = plan.msms.BatchMax();
  if (plan.batch_max == 1) return absl::OkStatus();
  const MsmPlan batch = plan.msms.ForBatch(plan.batch_max);
  plan.batch_scratch_bytes = plan.batch_max * sizes.proof_bytes;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    PROOFMILL_ASSIGN_OR_RETURN(const size_t bytes,
                               workspaces.BytesFor(static_cast<BaseSetId>(set), batch.shapes[set]));
    plan.batch_scratch_bytes += bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KeyPlanner> KeyPlanner::Make(const KeySizes& sizes, const WorkspaceSizes& workspaces) {
  SetOptions all;
  SetOptions side_by_side;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    PROOFMILL_ASSIGN_OR_RETURN(all[set],
                               MsmOptions(static_cast<BaseSetId>(set), sizes.bases[set], workspaces));
    side_by_side[set] = SideBySideOptions(all[set]);
  }
  KeyPlanner planner;
  PlanWalk(sizes, std::move(side_by_side), /*in_turn=*/false).AppendTo(planner.plans_);
  const WorkspaceRange range = RangeOf(all);
  for (size_t bytes = range.most;; bytes = std::max(bytes - bytes / 8 - 1, range.least)) {
    SetOptions in_turn;
    for (size_t set = 0; set < kBaseSetCount; ++set) in_turn[set] = InTurnOptions(all[set], bytes);
    PlanWalk(sizes, std::move(in_turn), /*in_turn=*/true).AppendTo(planner.plans_);
    if (bytes == range.least) break;
  }
  std::stable_sort(planner.plans_.begin(), planner.plans_.end(),
                   [](const KeyPlan& a, const KeyPlan& b) { return a.seconds < b.seconds; });
  PROOFMILL_RETURN_IF_ERROR(AddBatch(sizes, workspaces, planner.plans_.front()));
  planner.smallest_ =
      *std::min_element(planner.plans_.begin(), planner.plans_.end(), [](const KeyPlan& a, const KeyPlan& b) {
        return std::pair(a.key_bytes, a.scratch_bytes) < std::pair(b.key_bytes, b.scratch_bytes);
      });
  return planner;
}

std::optional<KeyPlan> KeyPlanner::Find(const std::function<bool(const KeyPlan&)>& fits) const {
  const auto found = std::find_if(plans_.begin(), plans_.end(), fits);
  if (found == plans_.end()) return std::nullopt;
  return *found;
}

absl::StatusOr<MemoryPlan> PlanMemory(const std::string& device, const KeyPlanner& planner,
                                      const DeviceMemoryState& now) {
  const KeyPlan& smallest = planner.Smallest();
  // Proofs of the key in its smallest form must find enough when it comes back after it had to give way.
  const auto arena = [&](const KeyPlan& plan) {
    return std::max({now.arena_bytes, plan.scratch_bytes, smallest.scratch_bytes});
  };
  // Proofs must leave room for every key that is known, in its smallest form.
  const size_t arena_max = now.limit - std::min(now.limit, std::max(now.key_bytes_min, smallest.key_bytes));
  const auto find = [&](size_t room) {
    return planner.Find([&](const KeyPlan& plan) {
      return plan.key_bytes <= room && arena(plan) <= std::min(arena_max, room - plan.key_bytes);
    });
  };
  // Beside the keys that are here, or else in their place.
  std::optional<KeyPlan> plan = find(now.limit - std::min(now.limit, now.resident_bytes));
  if (!plan.has_value()) plan = find(now.limit);
  if (!plan.has_value()) {
    const size_t together = smallest.key_bytes + arena(smallest);
    std::string message = absl::StrCat(device, ": the key needs at least ", smallest.key_bytes,
                                       " bytes of device memory and each proof ", arena(smallest),
                                       ", together ", together, "; the limit is ", now.limit);
    if (together <= now.limit) {
      absl::StrAppend(&message, ", and another key here needs ", now.key_bytes_min, " beside a proof");
    }
    return WithReason(absl::ResourceExhaustedError(message), ErrorReason::kOutOfMemory);
  }
  const KeyPlan& fastest = planner.Fastest();
  MemoryPlan memory{.arena_bytes = arena(*plan),
                    .arenas = 1,
                    .arena_bytes_min = arena(*plan),
                    .batch_bytes = std::max(now.batch_bytes, fastest.batch_scratch_bytes)};
  const size_t with_all = now.resident_bytes + fastest.key_bytes;
  const size_t for_batches = kBatchArenasMin * std::max(memory.arena_bytes, memory.batch_bytes);
  if (for_batches <= now.limit / 8 && with_all + for_batches <= now.limit)
    memory.arena_bytes = for_batches / kBatchArenasMin;
  const auto room_for = [&](uint32_t arenas) {
    const size_t bytes = arenas * memory.arena_bytes;
    return arenas <= kArenasMax && fastest.scratch_bytes <= memory.arena_bytes &&
           with_all + bytes <= now.limit && (arenas <= 2 || bytes <= now.limit / 8);
  };
  while (room_for(memory.arenas + 1)) ++memory.arenas;
  return memory;
}

}  // namespace proofmill::engine
