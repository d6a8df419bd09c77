#include "engine/dispatch/proof_times.h"

#include <algorithm>
#include <utility>

namespace proofmill::engine {
namespace {

Clock::duration Blend(Clock::duration average, Clock::duration latest) {
  return average + (latest - average) / 4;
}

}  // namespace

void ProofTimes::Learn(std::string_view circuit, std::string_view device, Clock::duration run_time) {
  // Zero means "not known" to the queue.
  const Clock::duration sample = std::max(run_time, Clock::duration{1});
  const std::string device_name(device);
  std::string circuit_name(circuit);
  MutexLock lock(mu_);
  const auto [entry, is_first] = by_circuit_[std::move(circuit_name)].try_emplace(device_name, sample);
  if (!is_first) entry->second = Blend(entry->second, sample);
  average_ = average_.has_value() ? Blend(*average_, sample) : sample;
}

void ProofTimes::Forget(std::string_view circuit) {
  MutexLock lock(mu_);
  if (const auto found = by_circuit_.find(circuit); found != by_circuit_.end()) by_circuit_.erase(found);
}

std::optional<Clock::duration> ProofTimes::Of(std::string_view circuit) const {
  MutexLock lock(mu_);
  const auto found = by_circuit_.find(circuit);
  if (found == by_circuit_.end()) return std::nullopt;
  Clock::duration sum{0};
  for (const auto& [device, time] : found->second) sum += time;
  return sum / static_cast<int64_t>(found->second.size());
}

std::optional<Clock::duration> ProofTimes::On(std::string_view circuit, std::string_view device) const {
  MutexLock lock(mu_);
  const auto found = by_circuit_.find(circuit);
  if (found == by_circuit_.end()) return std::nullopt;
  const auto time = found->second.find(device);
  if (time == found->second.end()) return std::nullopt;
  return time->second;
}

std::optional<Clock::duration> ProofTimes::Average() const {
  MutexLock lock(mu_);
  return average_;
}

}  // namespace proofmill::engine
