// How long proofs take, learned from those that were made: for estimated waits and advice when to retry.
//
// One exponentially weighted average for each circuit on each device, and one over all, in which the latest
// proof counts a quarter: enough to follow a machine that slows down within a few proofs, and calm enough to
// answer with.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_ENGINE_DISPATCH_PROOF_TIMES_H_
#define PROOFMILL_ENGINE_DISPATCH_PROOF_TIMES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

class ProofTimes {
 public:
  // A proof of `circuit` took `run_time` on `device`. Only whole proofs count, not those that were cancelled.
  // REQUIRES: `circuit` comes from the registry, so that the table stays bounded.
  void Learn(std::string_view circuit, std::string_view device, Clock::duration run_time);
  // The circuit has another key now, or none: what was learned of it is worth nothing.
  void Forget(std::string_view circuit);

  // Over the devices that have proved it; nothing until one has.
  std::optional<Clock::duration> Of(std::string_view circuit) const;
  // On one device; nothing until it has proved one.
  std::optional<Clock::duration> On(std::string_view circuit, std::string_view device) const;
  // Over all circuits; nothing until a proof has been made.
  std::optional<Clock::duration> Average() const;

 private:
  mutable Mutex mu_;
  using Devices = std::map<std::string, Clock::duration, std::less<>>;
  std::map<std::string, Devices, std::less<>> by_circuit_ ABSL_GUARDED_BY(mu_);
  std::optional<Clock::duration> average_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_PROOF_TIMES_H_
