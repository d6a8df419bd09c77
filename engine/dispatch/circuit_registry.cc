#include "engine/dispatch/circuit_registry.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/clock.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "engine/dispatch/circuit_errors.h"
#include "engine/dispatch/circuit_reader.h"
#include "engine/groth16/proving_key.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

using std::chrono::steady_clock;

// More than the rest of the process has: on a core that both want, the kernel then gives this thread a tenth.
constexpr int kLoaderNiceness = 10;
constexpr int kNicenessMax = 19;
// A load at run time gets one core of so many.
constexpr size_t kShareOfCores = 4;

}  // namespace

CircuitRegistry::CircuitRegistry(Options options, Hooks hooks, Observer& observer)
    : options_(std::move(options)), hooks_(std::move(hooks)), observer_(observer) {}

CircuitRegistry::~CircuitRegistry() { Stop(); }

absl::Status CircuitRegistry::Start() {
  PROOFMILL_ASSIGN_OR_RETURN(CircuitScan scan, ScanCircuitDirectory(options_.directory));
  CircuitAliases aliases;
  if (!options_.state_dir.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(aliases, ReadAliases(AliasesPath(options_.state_dir)));
  }
  for (const IgnoredFile& file : scan.ignored) observer_.OnCircuitFileIgnored(file.name, file.why);
  std::vector<std::string> shadowed;
  {
    MutexLock lock(mu_);
    aliases_ = std::move(aliases);
    for (const CircuitFiles& files : scan.circuits) {
      Circuit circuit = NewCircuit(files);
      circuit.load_step = kLoadStepWaiting;
      PublishLocked(std::move(circuit));
      circuits_.find(files.id)->second.loading = true;
    }
    for (const auto& [id, entry] : circuits_) {
      if (aliases_.erase(id) != 0) shadowed.push_back(id);
    }
    settled_once_ = scan.circuits.empty();
  }
  for (const std::string& id : shadowed) {
    observer_.OnCircuitFileIgnored(id, "an alias that has the name of a circuit");
  }
  Deliver();
  for (CircuitFiles& files : scan.circuits) work_->Load(std::move(files));
  for (size_t i = 0; i < options_.loads_max; ++i) loaders_.emplace_back([this] { LoadLoop(); });
  return absl::OkStatus();
}

void CircuitRegistry::Stop() {
  // First: whoever sees that it is stopping finds that nothing more is loaded.
  work_->Stop();
  {
    MutexLock lock(mu_);
    stopping_ = true;
    settled_.NotifyAll();
  }
  for (std::thread& loader : loaders_) loader.join();
  loaders_.clear();
}

void CircuitRegistry::LoadLoop() {
  SetThreadName("pm-loader");
  // Only of this thread, which is what a thread id means to Linux here. Failing costs nothing but politeness.
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int niceness = getpriority(PRIO_PROCESS, thread);
  setpriority(PRIO_PROCESS, thread, std::min(niceness + kLoaderNiceness, kNicenessMax));
  CircuitWork::Task task;
  while (work_->Next(task)) {
    for (const Circuit& circuit : task.release) ReleaseOne(circuit);
    task.release.clear();
    if (!task.load.has_value()) continue;
    const size_t threads = ThreadsForLoad();
    if (threads == 0) {
      LoadOne(*task.load);
    } else {
      kernels::ThreadArena(threads).Execute([&] { LoadOne(*task.load); });
    }
  }
}

size_t CircuitRegistry::ThreadsForLoad() const {
  MutexLock lock(mu_);
  if (!settled_once_) return 0;
  if (options_.load_threads != 0) return options_.load_threads;
  return std::max<size_t>(kernels::HardwareThreads() / kShareOfCores, 1);
}

void CircuitRegistry::LoadOne(const CircuitFiles& files) {
  const CircuitPtr present = Find(files.id);
  const CircuitPtr before =
      present != nullptr && present->state == CircuitState::kReady ? present : CircuitPtr();
  Circuit circuit = NewCircuit(files);
  absl::Status status;
  try {
    status = TryLoad(files, before, circuit);
  } catch (const std::bad_alloc&) {
    status = WithReason(absl::ResourceExhaustedError("memory ran out while the key was loaded"),
                        ErrorReason::kOutOfMemory);
  } catch (const std::exception& e) {
    status = WithReason(absl::InternalError(absl::StrCat("loading the key threw: ", e.what())),
                        ErrorReason::kInternal);
  }
  if (!status.ok()) {
    status = WithoutFolder(status, options_.directory);
    // Nothing of a key that was refused is kept.
    Circuit kept = NewCircuit(files);
    if (before != nullptr) {
      kept = *before;
      kept.reload_failure = std::move(status);
    } else {
      kept.failure = std::move(status);
      kept.load_duration = circuit.load_duration;
      kept.warm_up_duration = circuit.warm_up_duration;
    }
    circuit = std::move(kept);
  }
  circuit.load_step.clear();
  circuit.reloading = false;
  circuit.state = circuit.failure.ok() ? CircuitState::kReady : CircuitState::kFailed;
  {
    MutexLock lock(mu_);
    Entry& entry = circuits_.find(files.id)->second;
    entry.loading = false;
    const bool is_new = circuit.hold != nullptr && (before == nullptr || circuit.hold != before->hold);
    if (is_new) ++entry.held;
    PublishLocked(std::move(circuit));
  }
  Deliver();
}

absl::Status CircuitRegistry::TryLoad(const CircuitFiles& files, const CircuitPtr& before, Circuit& circuit) {
  const steady_clock::time_point start = steady_clock::now();
  KeyOptions key_options;
  key_options.allow_unsafe_setup = options_.allow_unsafe_setup;
  key_options.allow_insecure_test_keys = options_.allow_insecure_test_keys;
  key_options.state_dir = options_.state_dir;
  key_options.on_step = [&](std::string_view step) { TellStep(files.id, step); };
  const absl::Status read = ReadCircuit(files, key_options, circuit);
  const steady_clock::time_point loaded = steady_clock::now();
  circuit.load_duration = loaded - start;
  PROOFMILL_RETURN_IF_ERROR(read);
  if (before != nullptr && ProvesTheSame(*before, circuit)) {
    circuit = *before;
    circuit.reload_failure = absl::OkStatus();
    return absl::OkStatus();
  }
  if (circuit.key != nullptr) {
    circuit.key->checks().SetListener(
        [&observer = observer_](size_t proofs) { observer.OnSelfCheck(proofs); });
  }
  TellStep(files.id, "placing");
  const absl::Status installed = hooks_.install(circuit);
  circuit.warm_up_duration = steady_clock::now() - loaded;
  PROOFMILL_RETURN_IF_ERROR(installed);
  try {
    circuit.hold = work_->Hold(circuit);
  } catch (const std::bad_alloc&) {
    if (hooks_.remove) hooks_.remove(circuit);
    throw;
  }
  return absl::OkStatus();
}

void CircuitRegistry::TellStep(const std::string& id, std::string_view step) {
  {
    MutexLock lock(mu_);
    Circuit circuit = *FindLocked(id);
    circuit.load_step = step;
    PublishLocked(std::move(circuit));
  }
  Deliver();
}

void CircuitRegistry::ReleaseOne(const Circuit& circuit) {
  if (hooks_.remove) hooks_.remove(circuit);
  {
    MutexLock lock(mu_);
    const auto entry = circuits_.find(circuit.id);
    --entry->second.held;
    EraseIfGoneLocked(entry);
  }
  Deliver();
}

CircuitPtr CircuitRegistry::PublishLocked(Circuit circuit) {
  circuit.revision = ++changes_;
  const std::string id = circuit.id;
  const CircuitPtr snapshot = std::make_shared<const Circuit>(std::move(circuit));
  std::list<Change> news;
  news.push_back({snapshot, {}});
  circuits_[id].circuit = snapshot;  // nothing throws after this
  const Counts counts = CountsLocked();
  news.front().counts = counts;
  news_.splice(news_.end(), news);
  if (counts.loading == 0) {
    settled_once_ = true;
    settled_.NotifyAll();
  }
  return snapshot;
}

CircuitPtr CircuitRegistry::EraseIfGoneLocked(Entries::iterator entry) {
  const CircuitPtr& present = entry->second.circuit;
  if (present->state != CircuitState::kUnloading || entry->second.held != 0) return present;
  Circuit circuit;
  circuit.id = present->id;
  circuit.system = present->system;
  circuit.state = CircuitState::kUnloaded;
  CircuitPtr gone = PublishLocked(std::move(circuit));
  circuits_.erase(entry);
  return gone;
}

void CircuitRegistry::Deliver() {
  {
    MutexLock lock(mu_);
    if (delivering_) return;
    delivering_ = true;
  }
  while (true) {
    std::list<Change> change;
    std::vector<std::weak_ptr<CircuitWatcher>> watchers;
    {
      MutexLock lock(mu_);
      if (news_.empty()) {
        delivering_ = false;
        return;
      }
      change.splice(change.begin(), news_, news_.begin());
      watchers = watchers_;
    }
    observer_.OnCircuit(*change.front().circuit);
    if (hooks_.listener) hooks_.listener(*change.front().circuit, change.front().counts);
    for (const std::weak_ptr<CircuitWatcher>& weak : watchers) {
      if (const auto watcher = weak.lock()) watcher->OnCircuitsChanged();
    }
  }
}

void CircuitRegistry::Watch(std::weak_ptr<CircuitWatcher> watcher) {
  MutexLock lock(mu_);
  watchers_.erase(std::remove_if(watchers_.begin(), watchers_.end(),
                                 [](const std::weak_ptr<CircuitWatcher>& known) { return known.expired(); }),
                  watchers_.end());
  watchers_.push_back(std::move(watcher));
}

CircuitPtr CircuitRegistry::FindLocked(std::string_view name) const {
  auto found = circuits_.find(name);
  if (found == circuits_.end()) {
    const auto alias = aliases_.find(name);
    if (alias != aliases_.end()) found = circuits_.find(alias->second);
  }
  return found == circuits_.end() ? nullptr : found->second.circuit;
}

CircuitPtr CircuitRegistry::Find(std::string_view name) const {
  MutexLock lock(mu_);
  return FindLocked(name);
}

std::vector<CircuitPtr> CircuitRegistry::List() const {
  std::vector<CircuitPtr> circuits;
  MutexLock lock(mu_);
  for (const auto& [id, entry] : circuits_) circuits.push_back(entry.circuit);
  return circuits;
}

absl::StatusOr<CircuitPtr> CircuitRegistry::FindReady(std::string_view name, std::string_view version) const {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitName(name));
  MutexLock lock(mu_);
  return FindReadyLocked(name, version);
}

absl::StatusOr<CircuitPtr> CircuitRegistry::FindReadyLocked(std::string_view name,
                                                            std::string_view version) const {
  const CircuitPtr circuit = FindLocked(name);
  if (circuit == nullptr) return CircuitUnknown(absl::StrCat("no such circuit: ", std::string(name)));
  switch (circuit->state) {
    case CircuitState::kReady:
      break;
    case CircuitState::kLoading:
      return CircuitIsLoading(name);
    case CircuitState::kFailed:
      return WithReason(
          absl::FailedPreconditionError(absl::StrCat("circuit ", std::string(name),
                                                     " could not be loaded: ", circuit->failure.message())),
          ErrorReason::kCircuitFailed);
    case CircuitState::kUnloading:
    case CircuitState::kUnloaded:
      return CircuitUnknown(absl::StrCat("circuit ", std::string(name), " is being unloaded"));
  }
  if (!version.empty() && version != circuit->version) {
    return WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "circuit ", std::string(name), " has another version than the request pins: ", circuit->version)),
        ErrorReason::kVersionMismatch);
  }
  return circuit;
}

CircuitRegistry::Counts CircuitRegistry::counts() const {
  MutexLock lock(mu_);
  return CountsLocked();
}

CircuitRegistry::Counts CircuitRegistry::CountsLocked() const {
  Counts counts;
  for (const auto& [id, entry] : circuits_) {
    if (entry.circuit->state == CircuitState::kLoading) ++counts.loading;
    if (entry.circuit->state == CircuitState::kReady) ++counts.ready;
    if (entry.circuit->state == CircuitState::kFailed) ++counts.failed;
  }
  counts.changes = changes_;
  return counts;
}

bool CircuitRegistry::WaitUntilSettled(steady_clock::time_point deadline) {
  MutexLock lock(mu_);
  while (CountsLocked().loading != 0 && !stopping_ && steady_clock::now() < deadline) {
    Clock::Real().WaitUntil(settled_, mu_, deadline);
  }
  return CountsLocked().loading == 0;
}

}  // namespace proofmill::engine
