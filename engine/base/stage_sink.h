// Whoever wants to hear of the timed steps of a proof, of whatever proof system.

#ifndef PROOFMILL_ENGINE_BASE_STAGE_SINK_H_
#define PROOFMILL_ENGINE_BASE_STAGE_SINK_H_

#include <chrono>
#include <string_view>

namespace proofmill::engine {

// Hears about stages as they end. Called on any thread of the backend, one call at a time, with no lock held
// that a caller could know of; a stage that a backend does not have is not reported. Must not throw.
class StageSink {
 public:
  virtual ~StageSink() = default;
  // `stage` is a name as metrics and the API have it: "msm_a", "commit", "round_0".
  virtual void OnStage(std::string_view stage, std::chrono::nanoseconds duration) = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_STAGE_SINK_H_
