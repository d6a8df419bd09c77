// What goes into the engine and what comes out of it: requests, results and the places in between.
//
// Plain values, no behaviour. A ProveRequest is move only, because it owns a witness, as the secret input of
// any proof system is called here; the witness is wiped when it goes (proof_data.h).

#ifndef PROOFMILL_ENGINE_DISPATCH_PROVE_TYPES_H_
#define PROOFMILL_ENGINE_DISPATCH_PROVE_TYPES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/dispatch/admission.h"
#include "engine/dispatch/proof_data.h"

namespace proofmill::engine {

// Which jobs go first. Waiting raises a job's place (job_queue.h), so that no level starves.
enum class Priority { kLow, kNormal, kHigh };
inline constexpr size_t kPriorityCount = 3;
// "low", "normal", "high".
std::string_view PriorityName(Priority priority);

struct Circuit;

// One request for a proof.
struct ProveRequest {
  // The id of a circuit, or an alias.
  std::string circuit;
  // If not empty, the version that the circuit must have: 128 lower-case hexadecimal digits.
  std::string version;
  // What CircuitRegistry::FindReady() found for the two, where the caller has looked already: this very
  // circuit is proved then, even if the name has come to mean another one or the circuit is being unloaded.
  std::shared_ptr<const Circuit> found = nullptr;
  ProofInput witness;
  Priority priority = Priority::kNormal;
  // Nothing is worth more than this wait; cut to the engine's maximum. Without one, the engine's default
  // counts.
  std::optional<Clock::time_point> deadline;
  // If not empty, a repeated request of the same tenant with the same content gets the same job, and one with
  // other content is refused. At most 128 bytes.
  std::string request_id;
  // Who asks; empty where there is no authentication. Never taken from a field of the request.
  std::string tenant;
  // What Engine::Reserve() gave before the witness was received. Without one, Submit() reserves by itself.
  std::optional<Reservation> reservation;
};

struct StageTime {
  std::string stage;
  std::chrono::nanoseconds duration;
};

// A proof with what belongs to it. It has been verified.
struct ProveResult {
  ProofOutput output;
  std::string circuit;
  std::string version;
  std::vector<StageTime> stages;
  std::string device;
  std::chrono::nanoseconds queue_wait{0};
  // From its start on the device, the last one if it was run again elsewhere, to the end of its check.
  std::chrono::nanoseconds run_time{0};
  absl::Time finish_time;
};

enum class JobState { kQueued, kRunning, kDone };

// Where a job is on its way.
struct Progress {
  JobState state = JobState::kQueued;
  // Jobs that will be taken before this one, if it is queued.
  size_t jobs_ahead = 0;
  // The stage that has ended last, if the job runs; empty before the first one ends.
  std::string stage;
};

// Both are called with no lock held, from a thread of the engine, never from inside Submit() or Cancel(), but
// perhaps before Submit() has returned. They must be quick: a worker or the answering thread waits for them.
// ProveCallback is called exactly once for each request that Submit() took, whatever happens. Calls for one
// request never overlap, and no ProgressCallback begins after the ProveCallback has.
using ProveCallback = std::function<void(absl::StatusOr<ProveResult>)>;
using ProgressCallback = std::function<void(const Progress&)>;

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_PROVE_TYPES_H_
