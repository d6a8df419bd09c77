#include "engine/dispatch/proof_times.h"

#include <algorithm>

namespace proofmill::engine {
namespace {

Clock::duration Blend(Clock::duration average, Clock::duration latest) {
  return average + (latest - average) / 4;
}

}  // namespace

void ProofTimes::Learn(std::string_view circuit, Clock::duration run_time) {
  // Zero means "not known" to the queue.
  const Clock::duration sample = std::max(run_time, Clock::duration{1});
  const std::string name(circuit);
  MutexLock lock(mu_);
  const auto [entry, is_first] = by_circuit_.try_emplace(name, sample);
  if (!is_first) entry->second = Blend(entry->second, sample);
  average_ = average_.has_value() ? Blend(*average_, sample) : sample;
}

std::optional<Clock::duration> ProofTimes::Of(std::string_view circuit) const {
  const std::string name(circuit);
  MutexLock lock(mu_);
  const auto found = by_circuit_.find(name);
  if (found == by_circuit_.end()) return std::nullopt;
  return found->second;
}

std::optional<Clock::duration> ProofTimes::Average() const {
  MutexLock lock(mu_);
  return average_;
}

}  // namespace proofmill::engine
