#include "engine/dispatch/circuit_registry.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/clock.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "engine/dispatch/circuit_reader.h"

namespace proofmill::engine {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetryWhileLoading{1000};
constexpr int kLoaderNiceness = 10;

}  // namespace

CircuitRegistry::CircuitRegistry(Options options, Installer installer, Listener listener, Observer& observer)
    : options_(std::move(options)),
      installer_(std::move(installer)),
      listener_(std::move(listener)),
      observer_(observer) {}

CircuitRegistry::~CircuitRegistry() { Stop(); }

absl::Status CircuitRegistry::Start() {
  PROOFMILL_ASSIGN_OR_RETURN(CircuitScan scan, ScanCircuitDirectory(options_.directory));
  for (const IgnoredFile& file : scan.ignored) observer_.OnCircuitFileIgnored(file.name, file.why);
  for (const CircuitFiles& files : scan.circuits) Publish(NewCircuit(files));
  const size_t loaders = std::min(options_.loads_max, scan.circuits.size());
  {
    MutexLock lock(mu_);
    to_load_ = std::move(scan.circuits);
    std::reverse(to_load_.begin(), to_load_.end());  // taken from the back
  }
  for (size_t i = 0; i < loaders; ++i) loaders_.emplace_back([this] { LoadLoop(); });
  return absl::OkStatus();
}

void CircuitRegistry::Stop() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
    to_load_.clear();
    settled_.NotifyAll();
  }
  for (std::thread& loader : loaders_) loader.join();
  loaders_.clear();
}

void CircuitRegistry::LoadLoop() {
  SetThreadName("pm-loader");
  // Only of this thread, which is what a thread id means to Linux here. Failing costs nothing but politeness.
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLoaderNiceness);
  while (true) {
    CircuitFiles files;
    {
      MutexLock lock(mu_);
      if (to_load_.empty()) return;
      files = std::move(to_load_.back());
      to_load_.pop_back();
    }
    Publish(LoadOne(files));
  }
}

Circuit CircuitRegistry::LoadOne(const CircuitFiles& files) const {
  Circuit circuit = NewCircuit(files);
  KeyOptions key_options;
  key_options.allow_unsafe_setup = options_.allow_unsafe_setup;
  key_options.allow_insecure_test_keys = options_.allow_insecure_test_keys;
  key_options.state_dir = options_.state_dir;
  const steady_clock::time_point start = steady_clock::now();
  steady_clock::time_point loaded = start;
  absl::Status status;
  try {
    status = ReadCircuit(files, key_options, circuit);
    loaded = steady_clock::now();
    if (status.ok()) status = installer_(circuit);
  } catch (const std::bad_alloc&) {
    status = WithReason(absl::ResourceExhaustedError("memory ran out while the key was loaded"),
                        ErrorReason::kOutOfMemory);
  } catch (const std::exception& e) {
    status = WithReason(absl::InternalError(absl::StrCat("loading the key threw: ", e.what())),
                        ErrorReason::kInternal);
  }
  if (!status.ok()) {
    // Nothing of a key that was refused is kept.
    circuit = NewCircuit(files);
    circuit.failure = WithoutFolder(status, options_.directory);
  }
  circuit.state = circuit.failure.ok() ? CircuitState::kReady : CircuitState::kFailed;
  circuit.load_duration = loaded - start;
  circuit.warm_up_duration = steady_clock::now() - loaded;
  return circuit;
}

void CircuitRegistry::Publish(Circuit circuit) {
  const CircuitPtr snapshot = std::make_shared<const Circuit>(std::move(circuit));
  CircuitPtr replaced;  // let go of after the lock
  Counts counts;
  {
    MutexLock lock(mu_);
    CircuitPtr& entry = circuits_[snapshot->id];
    replaced = std::exchange(entry, snapshot);
    ++changes_;
    counts = CountsLocked();
    if (counts.loading == 0) settled_.NotifyAll();
  }
  observer_.OnCircuit(*snapshot);
  if (listener_) listener_(*snapshot, counts);
}

CircuitPtr CircuitRegistry::Find(std::string_view id) const {
  MutexLock lock(mu_);
  const auto found = circuits_.find(id);
  return found == circuits_.end() ? nullptr : found->second;
}

std::vector<CircuitPtr> CircuitRegistry::List() const {
  std::vector<CircuitPtr> circuits;
  MutexLock lock(mu_);
  for (const auto& [id, circuit] : circuits_) circuits.push_back(circuit);
  return circuits;
}

absl::StatusOr<CircuitPtr> CircuitRegistry::FindReady(std::string_view id, std::string_view version) const {
  if (!IsCircuitId(id)) {
    return WithReason(absl::NotFoundError("no such circuit: the id is not 1 to 128 characters of "
                                          "[A-Za-z0-9._-], the first not a dot"),
                      ErrorReason::kCircuitUnknown);
  }
  const std::string name(id);
  CircuitPtr circuit = Find(id);
  if (circuit == nullptr) {
    return WithReason(absl::NotFoundError(absl::StrCat("no such circuit: ", name)),
                      ErrorReason::kCircuitUnknown);
  }
  if (circuit->state == CircuitState::kLoading) {
    return WithRetryDelay(
        WithReason(absl::UnavailableError(absl::StrCat("circuit ", name, " is being loaded")),
                   ErrorReason::kCircuitLoading),
        kRetryWhileLoading);
  }
  if (circuit->state == CircuitState::kFailed) {
    return WithReason(absl::FailedPreconditionError(absl::StrCat(
                          "circuit ", name, " could not be loaded: ", circuit->failure.message())),
                      ErrorReason::kCircuitFailed);
  }
  if (!version.empty() && version != circuit->version) {
    return WithReason(
        absl::FailedPreconditionError(
            absl::StrCat("circuit ", name, " has another version than the request pins: ", circuit->version)),
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
  for (const auto& [id, circuit] : circuits_) {
    if (circuit->state == CircuitState::kLoading) ++counts.loading;
    if (circuit->state == CircuitState::kReady) ++counts.ready;
    if (circuit->state == CircuitState::kFailed) ++counts.failed;
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
