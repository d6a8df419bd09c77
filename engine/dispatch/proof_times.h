// How long proofs take, learned from those that were made: for estimated waits and advice when to retry.
//
// One exponentially weighted average for each circuit, and one over all, in which the latest proof counts a
// quarter: enough to follow a machine that slows down within a few proofs, and calm enough to answer with.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_ENGINE_DISPATCH_PROOF_TIMES_H_
#define PROOFMILL_ENGINE_DISPATCH_PROOF_TIMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

class ProofTimes {
 public:
  // A proof of `circuit` took `run_time` on its device. Only whole proofs count, not those that were
  // cancelled. REQUIRES: `circuit` comes from the registry, so that the table stays bounded.
  void Learn(std::string_view circuit, Clock::duration run_time);

  // Nothing until a proof of this circuit has been made.
  std::optional<Clock::duration> Of(std::string_view circuit) const;
  // Over all circuits; nothing until a proof has been made.
  std::optional<Clock::duration> Average() const;

 private:
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Clock::duration> by_circuit_ ABSL_GUARDED_BY(mu_);
  std::optional<Clock::duration> average_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_PROOF_TIMES_H_
