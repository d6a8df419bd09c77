// One proof on its way: the witness, its circuit, and the tickets that wait for it.
//
// Thread safety: every method may be called from any thread, but for witness(), which belongs to the worker
// between Start() and DropWitness(). Invariants: a ticket is attached to at most one job and taken off
// exactly once, by Detach() or by Finish(); whoever takes it off answers it. Once the last ticket is gone the
// job is abandoned: the cancellation token is raised, no ticket can be attached any more, and Start() fails.
// Locks: the job's own; nothing else is locked while it is held. The queue asks a job questions while it
// holds its own lock: queue before job.

#ifndef PROOFMILL_ENGINE_DISPATCH_JOB_H_
#define PROOFMILL_ENGINE_DISPATCH_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/cancellation.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/admission.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/observer.h"
#include "engine/dispatch/prove_types.h"
#include "engine/dispatch/ticket.h"

namespace proofmill::engine {

class Job {
 public:
  struct Params {
    CircuitPtr circuit;
    ProofInput witness;
    Reservation reservation;
    Priority priority = Priority::kNormal;
    std::string tenant;
    double weight = 1;  // of the tenant's share
    // The tenant's own limits; 0: none.
    size_t tenant_jobs_max = 0;
    uint64_t tenant_witness_bytes_max = 0;
    std::string request_id;
    Clock::time_point enqueue_time;
    // What the job will take on a device, as far as known; zero if not.
    Clock::duration expected_run{0};
    // How many of a device's slots it takes up (job_queue.h): more where fewer such jobs are worth running at
    // a time. At least 1.
    size_t slots = 1;
  };
  explicit Job(Params params);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Circuit& circuit() const { return *params_.circuit; }
  Priority priority() const { return params_.priority; }
  const std::string& tenant() const { return params_.tenant; }
  double weight() const { return params_.weight; }
  const std::string& request_id() const { return params_.request_id; }
  Clock::time_point enqueue_time() const { return params_.enqueue_time; }
  Clock::duration expected_run() const { return params_.expected_run; }
  size_t slots() const { return params_.slots; }
  JobInfo info() const;
  const CancellationToken& cancellation() const { return cancellation_; }

  // --- Tickets.
  // False when the job is finished or abandoned.
  bool Attach(std::shared_ptr<Ticket> ticket);
  enum class Detached { kNot, kOthersWait, kLast };
  // kNot: another thread took it off before, and answers it.
  Detached Detach(const Ticket& ticket);
  std::vector<std::shared_ptr<Ticket>> tickets() const;

  // --- The way of a job: queued, running (perhaps more than once), finished.
  // False when nobody waits for it any more; the job is to be dropped then.
  bool Start();
  // Back to the queue, never to be run on `device` again. False when nobody waits for it any more.
  bool Requeue(size_t device);
  // Whether `device` may run it.
  bool MayRunOn(size_t device) const;
  bool WasRequeued() const;
  void ReportStage(std::string stage);
  // Ends the job and hands over its tickets.
  std::vector<std::shared_ptr<Ticket>> Finish();
  // The state and the last stage; jobs_ahead is left to the queue.
  Progress progress() const;

  const ProofInput& witness() const { return params_.witness; }
  // Takes the room that the job did not bring along: all of it, if what it brought is too small for its
  // witness. Errors as Admission::Reserve().
  absl::Status Reserve(Admission& admission);
  // Wipes the witness and gives its bytes back. Idempotent. REQUIRES: no worker reads it.
  void DropWitness();
  // The witness of a job that was refused. REQUIRES: nobody else knows the job.
  ProofInput TakeWitness();
  // Gives the place in the queue back, for the next job.
  void ReleaseJobSlot();

 private:
  Params params_;
  CancellationToken cancellation_;

  mutable Mutex mu_;
  std::vector<std::shared_ptr<Ticket>> tickets_ ABSL_GUARDED_BY(mu_);
  JobState state_ ABSL_GUARDED_BY(mu_) = JobState::kQueued;
  std::string stage_ ABSL_GUARDED_BY(mu_);
  bool abandoned_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<size_t> excluded_device_ ABSL_GUARDED_BY(mu_);
  // Guards what DropWitness() and ReleaseJobSlot() change.
  Mutex holdings_mu_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_JOB_H_
