// The engine as the server sees it: circuits go in by a directory, requests by Submit(), proofs come out by
// callback.
//
//   Start ──> loads circuits, one worker thread per device ──> Submit ... ──> BeginDrain ──> Shutdown
//
// A request is refused at once, by the status that Submit() returns, or taken, and then answered exactly once
// by its callback: with a proof that has been verified, or with an error that carries a reason
// (base/error_reason.h).
//
// Thread safety: every method may be called from any thread.
// Lifetime: observer and clock must outlive the engine and every reservation; tickets may outlive all of
// them.

#ifndef PROOFMILL_ENGINE_DISPATCH_ENGINE_H_
#define PROOFMILL_ENGINE_DISPATCH_ENGINE_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/dispatch/admission.h"
#include "engine/dispatch/circuit_registry.h"
#include "engine/dispatch/health.h"
#include "engine/dispatch/job_runner.h"
#include "engine/dispatch/observer.h"
#include "engine/dispatch/prove_types.h"
#include "engine/dispatch/ticket.h"

namespace proofmill::engine {

// What a tenant may have. The default is what everybody gets who has no policy of its own.
struct TenantPolicy {
  double weight = 1;  // its share of the devices while others want them too, 0.001 to 1000
  // Jobs that may wait and bytes of witness that it may hold; 0: no limit of its own.
  size_t jobs_max = 0;
  uint64_t witness_bytes_max = 0;
};

struct EngineOptions {
  CircuitRegistry::Options circuits = {};
  // Jobs that may wait, and uploads that have a place in the queue.
  size_t jobs_max = 256;
  // Witnesses in memory: being received, waiting and running.
  uint64_t witness_bytes_max = uint64_t{1} << 30;
  // For requests without a deadline, and the longest that a request may have.
  std::chrono::milliseconds default_deadline{60'000};
  std::chrono::milliseconds maximum_deadline{600'000};
  // A waiting job counts as one level higher for each of these (job_queue.h).
  std::chrono::milliseconds priority_aging{10'000};
  // How long a finished request is remembered by its id, and how many.
  std::chrono::milliseconds request_id_ttl{600'000};
  size_t request_ids_max = 10'000;
  // A device that has made no good proof for so long proves a canary while nobody wants it; 0: never.
  std::chrono::milliseconds canary_interval{60'000};
  // Faults in a row after which a device is not trusted any more.
  int device_faults_max = 3;
  // Asked for each request, from any thread; null: the default for everybody.
  std::function<TenantPolicy(std::string_view tenant)> tenant_policy = nullptr;
  // The last so many runners stand by: they hold the circuits, and prove when no other is left.
  size_t standby_runners = 0;
};

struct ReserveRequest {
  std::string_view circuit;
  std::string_view version;    // empty: any
  CircuitPtr found = nullptr;  // as in ProveRequest
  uint64_t witness_bytes = 0;
  Priority priority = Priority::kNormal;
  std::optional<Clock::time_point> deadline;
  std::string_view tenant;      // as in ProveRequest
  std::string_view request_id;  // for the observer only
  // Also take a place in the queue. Without, Submit() takes it, and may find none.
  bool with_job_slot = true;
};

struct EngineStats {
  std::array<size_t, kPriorityCount> queued{};  // by Priority
  size_t running = 0;
  Admission::Usage reserved;
  size_t devices_up = 0;
  size_t devices = 0;
};

// How a device is now.
struct DeviceStatus {
  DeviceInfo info;  // its views live as long as the engine
  bool up = false;
  std::string why;     // it is down
  size_t running = 0;  // jobs
  size_t running_max = 0;
  bool standby = false;
  std::vector<DeviceMemory> memory;
  DeviceCounts counts;
  std::optional<absl::Time> last_proof;  // that verified, of a job or of a canary
};

class Dispatcher;
class Worker;

class Engine {
 public:
  // Begins to load the circuits and starts one worker for each runner. Returns before the circuits are
  // loaded.
  //   NOT_FOUND, FAILED_PRECONDITION  the circuit directory cannot be read.
  //   INVALID_ARGUMENT                an option is out of range, or there is no runner.
  static absl::StatusOr<std::unique_ptr<Engine>> Start(EngineOptions options,
                                                       std::vector<std::unique_ptr<JobRunner>> runners,
                                                       Observer& observer, Clock& clock = Clock::Real());
  ~Engine();  // Shutdown() with no more time
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Checks that a request would be taken now, and takes room for its witness, before the witness is in
  // memory.
  //   NOT_FOUND CIRCUIT_UNKNOWN, FAILED_PRECONDITION CIRCUIT_FAILED or VERSION_MISMATCH
  //   RESOURCE_EXHAUSTED QUEUE_FULL, QUOTA_EXCEEDED or MESSAGE_TOO_LARGE
  //   UNAVAILABLE CIRCUIT_LOADING, DRAINING or NO_DEVICE
  //   DEADLINE_EXCEEDED DEADLINE_UNREACHABLE or DEADLINE_EXPIRED
  // Those that time can cure carry a retry delay.
  absl::StatusOr<Reservation> Reserve(const ReserveRequest& request);

  // Says that a request is on its way to Submit(), less than a millisecond from it, so that an idle device is
  // awake when it comes. For small requests; nothing depends on it.
  void Expect();

  // Takes a request or refuses it; when refused, the callbacks are never called, and `request.witness` is
  // still there. Besides the errors of Reserve():
  //   INVALID_ARGUMENT WITNESS_LENGTH, WITNESS_NOT_CANONICAL, WITNESS_MALFORMED, REQUEST_INVALID
  //   ALREADY_EXISTS REQUEST_ID_CONFLICT
  // May throw std::bad_alloc; the request has been refused then.
  absl::StatusOr<std::shared_ptr<Ticket>> Submit(ProveRequest&& request, ProveCallback done,
                                                 ProgressCallback progress = nullptr);

  // How long a job of `tenant` would wait in the queue if it came now; nothing when no proof time has been
  // learned yet, or no device is up.
  std::optional<Clock::duration> EstimatedWait(Priority priority, std::string_view tenant = "") const;
  // How long the devices that are up need for all that is queued and running; zero when nothing is known.
  Clock::duration Backlog() const;

  const CircuitRegistry& circuits() const;
  CircuitRegistry& circuits();
  Health& health();
  EngineStats stats() const;
  // In the order of their runners.
  std::vector<DeviceStatus> devices() const;
  const EngineOptions& options() const;
  Clock& clock() const;

  // Refuses new requests from now on; taken ones are finished. Idempotent.
  void BeginDrain();
  // Waits until nothing is queued or running, or until `deadline`; returns whether it is so.
  bool WaitUntilIdle(Clock::time_point deadline);
  // BeginDrain(), waits for taken requests until `deadline`, answers the rest with UNAVAILABLE DRAINING,
  // stops loading, and joins every thread. When it returns no callback will be called any more. Idempotent.
  void Shutdown(Clock::time_point deadline);

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_ENGINE_H_
