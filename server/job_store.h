// The jobs that outlive their connections: what state each is in, how it ended, and who may ask.
//
// The store keeps no witness. The engine has it while the job is on its way, and the store only a ticket;
// once the job has ended the store keeps its result for a while, bounded by number and by bytes. Asking for a
// job costs the same however long the queue is: places come from the engine, which tells of them about four
// times a second.
//
// A job belongs to the tenant who made it; for everybody else it does not exist. Where room must be made for
// a new one, the oldest ended job of the tenant that has most goes, so that nobody pushes out what others
// wait for.
//
// Thread safety: every method may be called from any thread. Locks: one for the table and all entries; one of
// several for a request id while a job is made with it, which is taken first. Watchers are called with no
// lock held. Lifetime: must outlive the engine's callbacks, that is, the end of Engine::Shutdown().

#ifndef PROOFMILL_SERVER_JOB_STORE_H_
#define PROOFMILL_SERVER_JOB_STORE_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/prove_types.h"
#include "engine/dispatch/ticket.h"
#include "server/idle_reaper.h"
#include "server/job_name.h"

namespace proofmill::server {

// A job as it was at one moment.
struct JobView {
  std::string name;
  std::string circuit;
  std::string version;
  std::string request_id;
  engine::Priority priority = engine::Priority::kNormal;
  bool include_snarkjs_json = false;
  absl::Time create_time;
  absl::Time deadline;

  uint64_t revision = 0;  // grows with every change
  engine::Progress progress;
  // Once it has ended: how, when, and when it will be forgotten.
  std::shared_ptr<const absl::StatusOr<engine::ProveResult>> outcome;
  absl::Time end_time;
  absl::Time expire_time;
};

class JobStore final : public Idler {
 public:
  struct Options {
    size_t jobs_max;            // on their way and ended
    uint64_t result_bytes_max;  // of those that have ended
    std::chrono::milliseconds result_ttl;
    // Advice for those who find no room.
    std::chrono::milliseconds retry_delay{1000};
  };
  // Told of each change of what is kept.
  using CountListener = std::function<void(int change)>;

  // `clock` must outlive the store.
  JobStore(Options options, engine::Clock& clock, CountListener listener = nullptr);
  ~JobStore() override;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;

  // Says who holds the jobs, once the process knows its address. Until then there is no job, and none is
  // made: UNAVAILABLE kCircuitLoading.
  void Open(Instance instance);

  struct NewJob {
    std::string tenant;
    std::string circuit;
    std::string version;
    std::string request_id;  // may be empty
    std::string upload;      // that the witness comes from; empty: it came with the request
    engine::Priority priority = engine::Priority::kNormal;
    bool include_snarkjs_json = false;
    absl::Duration timeout;
  };
  // Hands the job to the engine with these callbacks.
  using Submit = std::function<absl::StatusOr<std::shared_ptr<engine::Ticket>>(engine::ProveCallback,
                                                                               engine::ProgressCallback)>;
  // Makes a job, or finds the one that an earlier request with the same id and content made.
  //   RESOURCE_EXHAUSTED kQueueFull  there are too many jobs, none of which has ended.
  //   otherwise                      what `submit` returns; there is no job then.
  absl::StatusOr<JobView> Create(const NewJob& job, const Submit& submit);

  //   NOT_FOUND kJobUnknown        no such job, another tenant's, or forgotten.
  //   UNAVAILABLE kWrongInstance   it lives in another process, whose address the error tells.
  absl::StatusOr<JobView> Get(std::string_view tenant, std::string_view name) const;
  absl::StatusOr<JobView> Cancel(std::string_view tenant, std::string_view name);
  absl::Status Delete(std::string_view tenant, std::string_view name);

  struct Page {
    std::vector<JobView> jobs;
    std::optional<uint64_t> next;  // where the next page begins; nothing after the last
  };
  Page List(std::string_view tenant, size_t size, uint64_t from) const;

  // Somebody who waits for changes.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // Ask for the job again. Called from any thread, at the same time too.
    virtual void OnJobChanged() = 0;
  };
  // Tells `watcher` of every change from now on, as long as it lives. Errors as Get().
  absl::StatusOr<JobView> Watch(std::string_view tenant, std::string_view name,
                                std::weak_ptr<Watcher> watcher);

  // Forgets what has expired.
  void EndIdle(engine::Clock::time_point now) override;

  struct Usage {
    size_t jobs = 0;
    size_t ended = 0;
    uint64_t result_bytes = 0;
  };
  Usage usage() const;

 private:
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;
  using RequestKey = std::pair<std::string, std::string>;  // tenant, request id
  struct Tenant {
    std::map<uint64_t, EntryPtr> jobs;  // by the order of their making
    std::set<uint64_t> ended;           // of these
  };

  absl::StatusOr<JobView> Enter(const NewJob& job, const Submit& submit);
  EntryPtr FindRepeated(const NewJob& job, const engine::Ticket* ticket) const;
  absl::StatusOr<EntryPtr> FindLocked(std::string_view tenant, std::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status MakeRoomLocked(std::vector<EntryPtr>& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void InsertLocked(const EntryPtr& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // By value: the table may hold the last other reference.
  void RemoveLocked(EntryPtr entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountEndedLocked(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The oldest ended job of the tenant that has most jobs, or null.
  EntryPtr EvictableLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnProgress(const EntryPtr& entry, const engine::Progress& progress);
  void OnDone(const EntryPtr& entry, absl::StatusOr<engine::ProveResult> result);
  void Tell(size_t before, size_t after) const;
  absl::StatusOr<Instance> OpenInstance() const;

  const Options options_;
  engine::Clock& clock_;
  const CountListener listener_;

  // Held while a job is made with a request id of this hash, so that a repeated request finds it.
  std::array<engine::Mutex, 16> making_;

  mutable engine::Mutex mu_;
  std::optional<Instance> instance_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, EntryPtr, std::less<>> jobs_ ABSL_GUARDED_BY(mu_);  // by ID
  std::map<std::string, Tenant, std::less<>> tenants_ ABSL_GUARDED_BY(mu_);
  std::map<RequestKey, EntryPtr> by_request_id_ ABSL_GUARDED_BY(mu_);
  uint64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 1;
  Usage usage_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_JOB_STORE_H_
