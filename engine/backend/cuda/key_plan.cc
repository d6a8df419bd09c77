#include "engine/backend/cuda/key_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

absl::StatusOr<KeyPlanner> KeyPlanner::Make(const KeySizes& sizes, const WorkspaceSizes& workspaces) {
  KeyPlanner planner(sizes);
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    PROOFMILL_ASSIGN_OR_RETURN(planner.options_[set],
                               MsmOptions(static_cast<BaseSetId>(set), sizes.bases[set], workspaces));
  }
  return planner;
}

KeyPlan KeyPlanner::PlanOf(const Choice& choice) const {
  KeyPlan plan{.msms = {}, .key_bytes = sizes_.key_bytes, .scratch_bytes = sizes_.proof_bytes};
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const MsmOption& option = options_[set][choice[set]];
    plan.msms.shapes[set] = option.shape;
    plan.key_bytes += option.table_bytes;
    plan.scratch_bytes += option.workspace_bytes;
  }
  return plan;
}

KeyPlan KeyPlanner::Smallest() const {
  Choice last;
  for (size_t set = 0; set < kBaseSetCount; ++set) last[set] = options_[set].size() - 1;
  return PlanOf(last);
}

bool KeyPlanner::GiveWay(Choice& choice) const {
  size_t chosen = kBaseSetCount;
  double least = 0;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    if (choice[set] + 1 == options_[set].size()) continue;
    const MsmOption& now = options_[set][choice[set]];
    const MsmOption& next = options_[set][choice[set] + 1];
    const double price = (next.seconds - now.seconds) / static_cast<double>(now.bytes() - next.bytes());
    if (chosen == kBaseSetCount || price < least) {
      chosen = set;
      least = price;
    }
  }
  if (chosen == kBaseSetCount) return false;
  ++choice[chosen];
  return true;
}

std::optional<KeyPlan> KeyPlanner::Find(const std::function<bool(const KeyPlan&)>& fits) const {
  Choice choice{};
  do {
    KeyPlan plan = PlanOf(choice);
    if (fits(plan)) return plan;
  } while (GiveWay(choice));
  return std::nullopt;
}

absl::StatusOr<MemoryPlan> PlanMemory(const std::string& device, const KeyPlanner& planner,
                                      const DeviceMemoryState& now) {
  const KeyPlan smallest = planner.Smallest();
  // Proofs of the key in its smallest form must find enough when it comes back after it had to give way.
  const auto arena = [&](const KeyPlan& plan) {
    return std::max({now.arena_bytes, plan.scratch_bytes, smallest.scratch_bytes});
  };
  const auto find = [&](size_t room) {
    return planner.Find(
        [&](const KeyPlan& plan) { return plan.key_bytes <= room && arena(plan) <= room - plan.key_bytes; });
  };
  // Beside the keys that are here, or else in their place.
  std::optional<KeyPlan> plan = find(now.limit - std::min(now.limit, now.resident_bytes));
  if (!plan.has_value()) plan = find(now.limit);
  if (!plan.has_value()) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          device, ": the key needs at least ", smallest.key_bytes,
                          " bytes of device memory and each proof ", arena(smallest), ", together ",
                          smallest.key_bytes + arena(smallest), "; the limit is ", now.limit)),
                      ErrorReason::kOutOfMemory);
  }
  MemoryPlan memory{.arena_bytes = arena(*plan), .arenas = 1};
  const KeyPlan fastest = planner.Fastest();
  const size_t with_all = now.resident_bytes + fastest.key_bytes;
  const auto room_for = [&](uint32_t arenas) {
    const size_t bytes = arenas * memory.arena_bytes;
    return arenas <= kArenasMax && fastest.scratch_bytes <= memory.arena_bytes &&
           with_all + bytes <= now.limit && (arenas <= 2 || bytes <= now.limit / 8);
  };
  while (room_for(memory.arenas + 1)) ++memory.arenas;
  return memory;
}

}  // namespace proofmill::engine
