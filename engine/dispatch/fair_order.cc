#include "engine/dispatch/fair_order.h"

#include <algorithm>
#include <queue>
#include <vector>

namespace proofmill::engine {
namespace {

// Charged for a job of which nothing is known, until it has ended.
constexpr double kUnknownSeconds = 0.1;

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

Clock::duration OnSlots(const Job& job, Clock::duration run) {
  return static_cast<int64_t>(job.slots()) * run;
}

double ExpectedSeconds(const Job& job) {
  const double run = job.expected_run().count() == 0 ? kUnknownSeconds : Seconds(job.expected_run());
  return static_cast<double>(job.slots()) * run;
}

Clock::duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

FairOrder::Tenant& FairOrder::TenantOf(const Job& job) {
  auto found = tenants_.find(job.tenant());
  if (found == tenants_.end()) found = tenants_.emplace(job.tenant(), Tenant{}).first;
  return found->second;
}

void FairOrder::Insert(Place place, JobPtr job) {
  const Job* const address = job.get();
  Tenant& tenant = TenantOf(*address);
  // Only these two can throw besides, and neither leaves more behind than a tenant without jobs, which goes
  // with the next one that is idle.
  places_.reserve(places_.size() + 1);
  tenant.jobs.emplace(place, std::move(job));
  places_.emplace(address, Position{&tenant, place});
  tenant.weight = address->weight();
  if (tenant.jobs.size() == 1 && tenant.running == 0) tenant.charged = std::max(tenant.charged, served_);
  Level& level = tenant.levels[static_cast<size_t>(address->priority())];
  ++level.jobs;
  level.slots += address->slots();
  level.expected += OnSlots(*address, address->expected_run());
  if (address->expected_run().count() == 0) level.unknown += address->slots();
}

JobPtr FairOrder::Remove(const Job& job) {
  const auto found = places_.find(&job);
  if (found == places_.end()) return nullptr;
  Tenant& tenant = *found->second.tenant;
  JobPtr removed = Erase(tenant, tenant.jobs.find(found->second.place));
  ForgetIdle();
  return removed;
}

JobPtr FairOrder::Take(size_t device, size_t slots, Place& place) {
  Tenant* next = nullptr;
  std::map<Place, JobPtr>::iterator first;
  for (auto& [name, tenant] : tenants_) {
    // Nearly always the first; only jobs that were put back exclude a device.
    const auto job = std::find_if(tenant.jobs.begin(), tenant.jobs.end(),
                                  [&](const auto& entry) { return entry.second->MayRunOn(device); });
    if (job == tenant.jobs.end()) continue;
    if (next == nullptr || std::pair(tenant.charged, job->first) < std::pair(next->charged, first->first)) {
      next = &tenant;
      first = job;
    }
  }
  if (next == nullptr || first->second->slots() > slots) return nullptr;
  place = first->first;
  JobPtr job = Erase(*next, first);
  served_ = std::max(served_, next->charged);
  next->charged += ExpectedSeconds(*job) / next->weight;
  ++next->running;
  ++running_;
  ForgetIdle();
  return job;
}

void FairOrder::Settle(const Job& job, Clock::duration run_time) {
  const auto tenant = tenants_.find(job.tenant());  // there, since it has a job running
  tenant->second.charged += (Seconds(OnSlots(job, run_time)) - ExpectedSeconds(job)) / tenant->second.weight;
  --tenant->second.running;
  --running_;
  ForgetIdle();
}

void FairOrder::PutBack(Place place, JobPtr job) {
  const double seconds = ExpectedSeconds(*job);
  Tenant& tenant = TenantOf(*job);
  Insert(place, std::move(job));
  tenant.charged -= seconds / tenant.weight;
  --tenant.running;
  --running_;
}

std::array<size_t, kPriorityCount> FairOrder::depth() const {
  std::array<size_t, kPriorityCount> depth{};
  for (const auto& [name, tenant] : tenants_) {
    for (size_t i = 0; i < kPriorityCount; ++i) depth[i] += tenant.levels[i].jobs;
  }
  return depth;
}

void FairOrder::Visit(const std::function<bool(const JobPtr&)>& visit) const {
  struct Turn {
    double charged;
    std::map<Place, JobPtr>::const_iterator next;
    const Tenant* tenant;
    bool operator>(const Turn& other) const {
      return std::pair(charged, next->first) > std::pair(other.charged, other.next->first);
    }
  };
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (const auto& [name, tenant] : tenants_) {
    if (!tenant.jobs.empty()) turns.push({tenant.charged, tenant.jobs.begin(), &tenant});
  }
  while (!turns.empty()) {
    Turn turn = turns.top();
    turns.pop();
    const JobPtr& job = turn.next->second;
    if (!visit(job)) return;
    turn.charged += ExpectedSeconds(*job) / turn.tenant->weight;
    if (++turn.next != turn.tenant->jobs.end()) turns.push(turn);
  }
}

FairOrder::Ahead FairOrder::AheadOf(std::string_view name, double weight, Priority priority,
                                    Clock::duration unknown_run) const {
  Ahead ahead;
  const auto own = tenants_.find(name);
  double charged = served_;
  if (own != tenants_.end()) {
    charged = std::max(charged, own->second.charged);
    for (size_t i = static_cast<size_t>(priority); i < kPriorityCount; ++i) {
      ahead.slots += own->second.levels[i].slots;
      ahead.work += own->second.levels[i].Work(unknown_run);
    }
  }
  // The others are served until they have been charged as much as this tenant will have been by then.
  const double own_turn = charged + Seconds(ahead.work) / weight;
  for (auto it = tenants_.begin(); it != tenants_.end(); ++it) {
    if (it == own || it->second.jobs.empty()) continue;
    const Tenant& other = it->second;
    size_t slots = 0;
    Clock::duration work{0};
    for (const Level& level : other.levels) {
      slots += level.slots;
      work += level.Work(unknown_run);
    }
    const Clock::duration share =
        FromSeconds(std::clamp((own_turn - other.charged) * other.weight, 0.0, Seconds(work)));
    if (share.count() == 0) continue;
    ahead.work += share;
    ahead.slots += slots;
  }
  return ahead;
}

Clock::duration FairOrder::Work(Clock::duration unknown_run) const {
  Clock::duration work{0};
  for (const auto& [name, tenant] : tenants_) {
    for (const Level& level : tenant.levels) work += level.Work(unknown_run);
  }
  return work;
}

JobPtr FairOrder::Erase(Tenant& tenant, std::map<Place, JobPtr>::iterator position) {
  JobPtr job = std::move(position->second);
  tenant.jobs.erase(position);
  places_.erase(job.get());
  Level& level = tenant.levels[static_cast<size_t>(job->priority())];
  --level.jobs;
  level.slots -= job->slots();
  level.expected -= OnSlots(*job, job->expected_run());
  if (job->expected_run().count() == 0) level.unknown -= job->slots();
  return job;
}

// A tenant without jobs is remembered as long as it has been charged more than the one served last; and for
// no longer than somebody else has jobs.
void FairOrder::ForgetIdle() {
  if (places_.empty() && running_ == 0) {
    tenants_.clear();
    served_ = 0;
    return;
  }
  for (auto it = tenants_.begin(); it != tenants_.end();) {
    const Tenant& tenant = it->second;
    const bool idle = tenant.jobs.empty() && tenant.running == 0 && tenant.charged <= served_;
    it = idle ? tenants_.erase(it) : std::next(it);
  }
}

}  // namespace proofmill::engine
