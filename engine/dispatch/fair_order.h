// The jobs that wait, and which of them is next: fair between tenants, by priority and age within one.
//
// Tenants share the devices by their weights, in time on a device, not in jobs: a tenant is charged what its
// jobs are expected to take, times the slots that they take up (job.h), when they are taken, and the
// difference when they have ended. So whoever sends slow jobs, or bad witnesses that cost a second look, pays
// for it, and nobody else does. The next job is that of the tenant that has been charged least, divided by
// its weight (start-time fair queueing, Goyal, Vin, Cheng 1996: a tenant that comes back begins at the charge
// of the one served last, so that it gains nothing by having been away). No tenant starves: each charge moves
// a tenant back behind all others that wait.
//
// Within a tenant the order is that of `Place`, which says when a job counts as having come (job_queue.h).
//
// Thread safety: none; JobQueue guards it with its lock. Locks: calls Job::MayRunOn(), queue before job.

#ifndef PROOFMILL_ENGINE_DISPATCH_FAIR_ORDER_H_
#define PROOFMILL_ENGINE_DISPATCH_FAIR_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "engine/base/clock.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/prove_types.h"

namespace proofmill::engine {

using JobPtr = std::shared_ptr<Job>;

class FairOrder {
 public:
  // When a job counts as having come, then a number that grows.
  using Place = std::pair<Clock::time_point, uint64_t>;

  FairOrder() = default;
  FairOrder(const FairOrder&) = delete;
  FairOrder& operator=(const FairOrder&) = delete;

  // Nothing has changed if this throws std::bad_alloc.
  void Insert(Place place, JobPtr job);
  // Takes `job` out, uncharged; null if it is not in.
  JobPtr Remove(const Job& job);
  // Takes the first job that `device` may run, and charges its tenant; null if there is none, or if it takes
  // more than `slots`: no other goes in front of it. `place`, if there is one, gets its place.
  JobPtr Take(size_t device, size_t slots, Place& place);
  // A job that was taken has ended after `run_time`.
  void Settle(const Job& job, Clock::duration run_time);
  // A job that was taken comes back to its place: its tenant is charged when it is taken again.
  void PutBack(Place place, JobPtr job);

  size_t size() const { return places_.size(); }
  bool contains(const Job& job) const { return places_.find(&job) != places_.end(); }
  std::array<size_t, kPriorityCount> depth() const;
  // Calls `visit` for each job in the order in which they will be taken if nothing changes, until it returns
  // false.
  void Visit(const std::function<bool(const JobPtr&)>& visit) const;

  // What would be taken before a job of `tenant` and `priority` that came now. `unknown_run` stands for jobs
  // whose time is not known; work is the time on one slot.
  struct Ahead {
    size_t slots = 0;
    Clock::duration work{0};
  };
  Ahead AheadOf(std::string_view tenant, double weight, Priority priority, Clock::duration unknown_run) const;
  // All that waits.
  Clock::duration Work(Clock::duration unknown_run) const;

 private:
  struct Level {
    size_t jobs = 0;
    size_t slots = 0;             // of the jobs
    size_t unknown = 0;           // slots of jobs without an expected time
    Clock::duration expected{0};  // the work of the others
    Clock::duration Work(Clock::duration unknown_run) const {
      return expected + static_cast<int64_t>(unknown) * unknown_run;
    }
  };
  struct Tenant {
    double weight = 1;
    double charged = 0;  // seconds on a slot, divided by the weight
    size_t running = 0;
    std::map<Place, JobPtr> jobs;
    std::array<Level, kPriorityCount> levels;
  };
  struct Position {
    Tenant* tenant;
    Place place;
  };

  Tenant& TenantOf(const Job& job);
  JobPtr Erase(Tenant& tenant, std::map<Place, JobPtr>::iterator position);
  void ForgetIdle();

  std::map<std::string, Tenant, std::less<>>
      tenants_;  // that have jobs here, running, or charges to remember
  absl::flat_hash_map<const Job*, Position> places_;
  double served_ = 0;  // what the tenant that was served last had been charged
  size_t running_ = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_FAIR_ORDER_H_
