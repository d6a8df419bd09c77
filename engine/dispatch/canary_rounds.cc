#include "engine/dispatch/canary_rounds.h"

#include <algorithm>
#include <utility>

namespace proofmill::engine {
namespace {

constexpr int kPausesPerRun = 19;

}  // namespace

CircuitPtr CanaryRounds::Next(const std::vector<CircuitPtr>& circuits, const JobRunner& runner) {
  const bool repeat = std::exchange(repeat_, false);
  CircuitPtr first, next;
  for (const CircuitPtr& circuit : circuits) {
    if (circuit->state != CircuitState::kReady || !runner.HasCanary(*circuit)) continue;
    if (first == nullptr) first = circuit;
    if (circuit->id < last_ || (circuit->id == last_ && !repeat)) continue;
    next = circuit;
    break;
  }
  if (next == nullptr) next = first;
  if (next != nullptr) last_ = next->id;
  return next;
}

Clock::duration CanaryRounds::PauseAfter(Clock::duration run_time) const {
  return std::max(interval_, run_time * kPausesPerRun);
}

}  // namespace proofmill::engine
