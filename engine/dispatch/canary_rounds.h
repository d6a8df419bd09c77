// Whose canary an idle device proves next: those of the circuits that it holds, one after the other by id.
//
// Thread safety: one thread at a time. JobQueue gives a device one spare turn at a time, which sees to that.

#ifndef PROOFMILL_ENGINE_DISPATCH_CANARY_ROUNDS_H_
#define PROOFMILL_ENGINE_DISPATCH_CANARY_ROUNDS_H_

#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/job_runner.h"

namespace proofmill::engine {

class CanaryRounds {
 public:
  // `interval`: between two proofs of a device, positive.
  explicit CanaryRounds(Clock::duration interval) : interval_(interval) {}

  // Of `circuits`, which are in the order of their ids, the next whose canary `runner` can prove now, or
  // null.
  CircuitPtr Next(const std::vector<CircuitPtr>& circuits, const JobRunner& runner);
  // The next one is the last once more: it blamed the device, and a second proof tells more than another
  // circuit's, which may well be good.
  void RepeatLast() { repeat_ = true; }

  // From the end of a canary that took `run_time` to the next proof: the interval, or longer, so that
  // canaries take a twentieth of the time of an idle device at most.
  Clock::duration PauseAfter(Clock::duration run_time) const;

 private:
  const Clock::duration interval_;
  std::string last_;
  bool repeat_ = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CANARY_ROUNDS_H_
