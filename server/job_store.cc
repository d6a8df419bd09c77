#include "server/job_store.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;
using Outcome = absl::StatusOr<engine::ProveResult>;

absl::Status Unknown(std::string_view name) {
  return engine::WithReason(
      absl::NotFoundError(absl::StrCat("there is no such job: expected one that was not deleted, has not "
                                       "expired, and whose process has not ended",
                                       Got(name))),
      ErrorReason::kJobUnknown);
}

uint64_t BytesOf(const Outcome& outcome) {
  if (!outcome.ok()) return outcome.status().message().size() + sizeof(Outcome);
  return sizeof(Outcome) + engine::OutputBytes(outcome->output) +
         outcome->stages.size() * sizeof(engine::StageTime) + outcome->circuit.size() +
         outcome->version.size();
}

// Whether the same request would get the same again, as engine/dispatch/request_ids.h has it.
bool IsFinal(const Outcome& outcome) { return outcome.ok() || absl::IsInvalidArgument(outcome.status()); }

}  // namespace

// Guarded by the store's lock, but for what is const.
struct JobStore::Entry {
  Entry(const NewJob& job, const JobName& job_name)
      : tenant(job.tenant), upload(job.upload), id(job_name.id) {
    view.name = ToText(job_name);
    view.circuit = job.circuit;
    view.version = job.version;
    view.request_id = job.request_id;
    view.priority = job.priority;
    view.include_snarkjs_json = job.include_snarkjs_json;
    view.create_time = absl::Now();
    view.deadline = view.create_time + job.timeout;
  }

  bool ended() const { return view.outcome != nullptr; }
  // Counts a change, and says who wants to hear of it.
  std::vector<std::shared_ptr<Watcher>> Changed() {
    ++view.revision;
    std::vector<std::shared_ptr<Watcher>> alive;
    for (const auto& weak : watchers) {
      if (auto watcher = weak.lock()) alive.push_back(std::move(watcher));
    }
    return alive;
  }

  const std::string tenant;
  const std::string upload;
  const std::string id;
  uint64_t sequence = 0;  // 0 while it is not in the table
  JobView view;
  std::shared_ptr<engine::Ticket> ticket;  // null once it has ended
  engine::Clock::time_point expiry;        // once it has ended
  uint64_t result_bytes = 0;
  std::vector<std::weak_ptr<Watcher>> watchers;
};

JobStore::JobStore(Options options, engine::Clock& clock, CountListener listener)
    : options_(options), clock_(clock), listener_(std::move(listener)) {}

JobStore::~JobStore() = default;

void JobStore::Open(Instance instance) {
  engine::MutexLock lock(mu_);
  instance_ = std::move(instance);
}

absl::StatusOr<Instance> JobStore::OpenInstance() const {
  engine::MutexLock lock(mu_);
  if (instance_.has_value()) return *instance_;
  return engine::WithRetryDelay(
      engine::WithReason(absl::UnavailableError("the service is starting"), ErrorReason::kCircuitLoading),
      options_.retry_delay);
}

absl::StatusOr<JobView> JobStore::Create(const NewJob& job, const Submit& submit) {
  if (job.request_id.empty()) return Enter(job, submit);
  const size_t hash = absl::Hash<std::pair<std::string, std::string>>()({job.tenant, job.request_id});
  // Otherwise two requests at the same time would both find nothing and make a job each, with one proof.
  engine::MutexLock lock(making_[hash % making_.size()]);
  if (const EntryPtr known = FindRepeated(job, nullptr)) {
    engine::MutexLock table(mu_);
    return known->view;
  }
  return Enter(job, submit);
}

absl::StatusOr<JobView> JobStore::Enter(const NewJob& job, const Submit& submit) {
  PROOFMILL_ASSIGN_OR_RETURN(const Instance instance, OpenInstance());
  PROOFMILL_ASSIGN_OR_RETURN(JobName name, MakeJobName(instance));
  const auto entry = std::make_shared<Entry>(job, std::move(name));
  std::vector<EntryPtr> dropped;  // let go of after the lock
  size_t before = 0, after = 0;
  {
    engine::MutexLock lock(mu_);
    before = usage_.jobs;
    PROOFMILL_RETURN_IF_ERROR(MakeRoomLocked(dropped));
    InsertLocked(entry);
    after = usage_.jobs;
  }
  Tell(before, after);
  const auto ticket =
      submit([this, entry](Outcome result) { OnDone(entry, std::move(result)); },
             [this, entry](const engine::Progress& progress) { OnProgress(entry, progress); });
  const EntryPtr known = ticket.ok() ? FindRepeated(job, ticket->get()) : nullptr;
  if (!ticket.ok() || known != nullptr) {
    {
      engine::MutexLock lock(mu_);
      if (entry->sequence != 0) RemoveLocked(entry);
    }
    Tell(after, after - 1);
    if (!ticket.ok()) return ticket.status();
    (*ticket)->Cancel();  // the other job has a ticket of its own
    engine::MutexLock lock(mu_);
    return known->view;
  }
  // The engine tells of changes; this is what there was before the first one.
  const engine::Progress progress = (*ticket)->progress();
  engine::MutexLock lock(mu_);
  if (!job.request_id.empty() && entry->sequence != 0) {
    by_request_id_[{job.tenant, job.request_id}] = entry;
  }
  if (!entry->ended()) {
    entry->ticket = *ticket;
    if (entry->view.revision == 0 && progress.state != engine::JobState::kDone)
      entry->view.progress = progress;
  }
  return entry->view;
}

// The job that `ticket` is a second ticket of; without one, the job of the very same upload, which is used
// up.
JobStore::EntryPtr JobStore::FindRepeated(const NewJob& job, const engine::Ticket* ticket) const {
  if (job.request_id.empty() || (ticket != nullptr && !ticket->joined())) return nullptr;
  engine::MutexLock lock(mu_);
  const auto found = by_request_id_.find({job.tenant, job.request_id});
  if (found == by_request_id_.end()) return nullptr;
  const EntryPtr& entry = found->second;
  if (entry->ended() && !IsFinal(*entry->view.outcome)) return nullptr;
  const bool same_upload =
      !job.upload.empty() && entry->upload == job.upload && entry->view.circuit == job.circuit;
  return ticket != nullptr || same_upload ? entry : nullptr;
}

absl::StatusOr<JobView> JobStore::Get(std::string_view tenant, std::string_view name) const {
  engine::MutexLock lock(mu_);
  PROOFMILL_ASSIGN_OR_RETURN(const EntryPtr entry, FindLocked(tenant, name));
  return entry->view;
}

absl::StatusOr<JobView> JobStore::Cancel(std::string_view tenant, std::string_view name) {
  std::shared_ptr<engine::Ticket> ticket;
  JobView view;
  {
    engine::MutexLock lock(mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const EntryPtr entry, FindLocked(tenant, name));
    ticket = entry->ticket;
    view = entry->view;
  }
  if (ticket != nullptr) ticket->Cancel();
  return view;
}

absl::Status JobStore::Delete(std::string_view tenant, std::string_view name) {
  std::vector<std::shared_ptr<Watcher>> watchers;
  size_t before = 0;
  {
    engine::MutexLock lock(mu_);
    PROOFMILL_ASSIGN_OR_RETURN(const EntryPtr entry, FindLocked(tenant, name));
    before = usage_.jobs;
    watchers = entry->Changed();
    RemoveLocked(entry);
  }
  Tell(before, before - 1);
  for (const auto& watcher : watchers) watcher->OnJobChanged();
  return absl::OkStatus();
}

JobStore::Page JobStore::List(std::string_view tenant, size_t size, uint64_t from) const {
  Page page;
  engine::MutexLock lock(mu_);
  const auto found = tenants_.find(tenant);
  if (found == tenants_.end()) return page;
  const auto& jobs = found->second.jobs;
  for (auto it = jobs.lower_bound(from); it != jobs.end(); ++it) {
    if (page.jobs.size() == size) {
      page.next = it->first;
      break;
    }
    page.jobs.push_back(it->second->view);
  }
  return page;
}

absl::StatusOr<JobView> JobStore::Watch(std::string_view tenant, std::string_view name,
                                        std::weak_ptr<Watcher> watcher) {
  engine::MutexLock lock(mu_);
  PROOFMILL_ASSIGN_OR_RETURN(const EntryPtr entry, FindLocked(tenant, name));
  auto& watchers = entry->watchers;
  watchers.erase(
      std::remove_if(watchers.begin(), watchers.end(), [](const auto& weak) { return weak.expired(); }),
      watchers.end());
  watchers.push_back(std::move(watcher));
  return entry->view;
}

void JobStore::EndIdle(engine::Clock::time_point now) {
  std::vector<EntryPtr> expired;
  size_t before = 0;
  {
    engine::MutexLock lock(mu_);
    before = usage_.jobs;
    for (const auto& [id, entry] : jobs_) {
      if (entry->ended() && entry->expiry <= now) expired.push_back(entry);
    }
    for (const EntryPtr& entry : expired) RemoveLocked(entry);
  }
  Tell(before, before - expired.size());
}

JobStore::Usage JobStore::usage() const {
  engine::MutexLock lock(mu_);
  return usage_;
}

absl::StatusOr<JobStore::EntryPtr> JobStore::FindLocked(std::string_view tenant,
                                                        std::string_view name) const {
  const std::optional<JobName> parsed = ParseJobName(name);
  if (!parsed.has_value()) {
    return engine::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                  "name: expected jobs/INSTANCE/ID, as CreateJob gave it", Got(name))),
                              ErrorReason::kRequestInvalid);
  }
  if (!instance_.has_value() || parsed->instance.token != instance_->token) {
    const std::string& owner = parsed->instance.address;
    // A process that was at our own address has ended; of one without an address nothing more is known.
    if (owner.empty() || !instance_.has_value() || owner == instance_->address) return Unknown(name);
    return WrongInstance(owner);
  }
  const auto found = jobs_.find(parsed->id);
  if (found == jobs_.end() || found->second->tenant != tenant) return Unknown(name);
  return found->second;
}

absl::Status JobStore::MakeRoomLocked(std::vector<EntryPtr>& dropped) {
  while (usage_.jobs >= options_.jobs_max) {
    EntryPtr entry = EvictableLocked();
    if (entry == nullptr) {
      return engine::WithRetryDelay(
          engine::WithReason(absl::ResourceExhaustedError("there are too many jobs, and none has ended"),
                             ErrorReason::kQueueFull),
          options_.retry_delay);
    }
    RemoveLocked(entry);
    dropped.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

void JobStore::InsertLocked(const EntryPtr& entry) {
  entry->sequence = next_sequence_++;
  jobs_.emplace(entry->id, entry);
  tenants_[entry->tenant].jobs.emplace(entry->sequence, entry);
  ++usage_.jobs;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a reference could be to what is erased here.
void JobStore::RemoveLocked(EntryPtr entry) {
  jobs_.erase(entry->id);
  const auto tenant = tenants_.find(entry->tenant);
  tenant->second.jobs.erase(entry->sequence);
  tenant->second.ended.erase(entry->sequence);
  if (tenant->second.jobs.empty()) tenants_.erase(tenant);
  const auto by_id = by_request_id_.find({entry->tenant, entry->view.request_id});
  if (by_id != by_request_id_.end() && by_id->second == entry) by_request_id_.erase(by_id);
  --usage_.jobs;
  if (entry->ended()) {
    --usage_.ended;
    usage_.result_bytes -= entry->result_bytes;
  }
  entry->sequence = 0;
}

JobStore::EntryPtr JobStore::EvictableLocked() const {
  const Tenant* most = nullptr;
  for (const auto& [name, tenant] : tenants_) {
    if (!tenant.ended.empty() && (most == nullptr || tenant.jobs.size() > most->jobs.size())) most = &tenant;
  }
  return most == nullptr ? nullptr : most->jobs.at(*most->ended.begin());
}

void JobStore::OnProgress(const EntryPtr& entry, const engine::Progress& progress) {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    engine::MutexLock lock(mu_);
    if (entry->ended() || progress.state == engine::JobState::kDone) return;
    entry->view.progress = progress;
    watchers = entry->Changed();
  }
  for (const auto& watcher : watchers) watcher->OnJobChanged();
}

void JobStore::OnDone(const EntryPtr& entry, Outcome result) {
  std::vector<std::shared_ptr<Watcher>> watchers;
  std::vector<EntryPtr> dropped;  // both let go of after the lock
  std::shared_ptr<engine::Ticket> ticket;
  size_t before = 0, after = 0;
  {
    engine::MutexLock lock(mu_);
    before = usage_.jobs;
    ticket = std::move(entry->ticket);
    entry->view.progress = {.state = engine::JobState::kDone, .jobs_ahead = 0, .stage = ""};
    entry->result_bytes = BytesOf(result);
    entry->view.outcome = std::make_shared<const Outcome>(std::move(result));
    entry->view.end_time = absl::Now();
    entry->view.expire_time = entry->view.end_time + absl::FromChrono(options_.result_ttl);
    entry->expiry = clock_.Now() + options_.result_ttl;
    if (entry->sequence != 0) CountEndedLocked(*entry);
    while (usage_.result_bytes > options_.result_bytes_max) {
      dropped.push_back(EvictableLocked());
      RemoveLocked(dropped.back());
    }
    watchers = entry->Changed();
    after = usage_.jobs;
  }
  Tell(before, after);
  for (const auto& watcher : watchers) watcher->OnJobChanged();
}

void JobStore::CountEndedLocked(Entry& entry) {
  tenants_.find(entry.tenant)->second.ended.insert(entry.sequence);
  ++usage_.ended;
  usage_.result_bytes += entry.result_bytes;
}

void JobStore::Tell(size_t before, size_t after) const {
  if (listener_ && before != after) listener_(static_cast<int>(after) - static_cast<int>(before));
}

}  // namespace proofmill::server
