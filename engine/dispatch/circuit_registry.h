// The circuits of a directory: finds them, loads each once, says what state each is in, and loads, unloads
// and renames them while the service runs.
//
// The directory holds, for each circuit ID,
//   ID/circuit.zkey  or  ID.zkey          the proving key of Groth16, or
//   ID/circuit.whir.json  or  ID.whir.json  the parameters of WHIR (whir/files.h), which take its place
//   ID/canary.wtns   or  ID.canary.wtns   optional: a witness that satisfies it, proved before it is ready
//   ID/circuit.r1cs  or  ID.r1cs          optional: its constraints, to name one that a bad witness breaks
//   ID/verification_key.json              optional: compared with the key (groth16/proving_key.h)
// Names that begin with a dot are skipped; names that are no circuit ids are reported as ignored. The
// directory belongs to the operator, so symbolic links in it are followed (Kubernetes mounts volumes as
// links); what they lead to must be a regular file. Ids in requests are looked up in the table that a scan
// made and never become part of a path.
//
// One bad key fails alone: its circuit is listed as failed, with the reason.
//
// At run time: Load() begins to load a circuit and returns; what becomes of it is seen by Find() and by
// watchers. A circuit that is ready serves on while its key is loaded anew, and until the new one has taken
// its place; if the new one is refused it stays. Unload() takes a circuit out of the table; its key stays on
// the devices until nobody holds a snapshot of it any more, so that every job that was taken is proved with
// the key that it came for. An alias is another name for a circuit. Where it points to changes at once: a
// request finds the one circuit or the other, and its result names the circuit and the version.
//
// How loading disturbs proofs: until all circuits of the start have settled a load uses all cores, because
// the service is not ready before that; afterwards at most `load_threads`, of which one (the loader itself)
// has a low priority. The canary is one proof, which waits for its turn.
//
// Thread safety: every method may be called from any thread, but for Start() and Stop(): the owner's thread.
// Locks: alias_mu_ before mu_. Snapshots may be let go of under either.
// Lifetime: snapshots (CircuitPtr) may outlive the registry; proofs are made with their keys only while the
// observer lives.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_REGISTRY_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_REGISTRY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/circuit_aliases.h"
#include "engine/dispatch/circuit_files.h"
#include "engine/dispatch/circuit_work.h"
#include "engine/dispatch/observer.h"

namespace proofmill::engine {

// Told that something about circuits has changed; looks for itself what it is.
class CircuitWatcher {
 public:
  virtual ~CircuitWatcher() = default;
  // Called with no lock held. Must be quick.
  virtual void OnCircuitsChanged() = 0;
};

class CircuitRegistry {
 public:
  struct Options {
    std::string directory;
    // Accept keys whose phase 2 nobody contributed to (gamma2 = delta2): anyone can forge their proofs.
    bool allow_unsafe_setup = false;
    // Accept keys of `proofmill setup` and `proofmill synth`, whose trapdoor is known.
    bool allow_insecure_test_keys = false;
    // For the records of key audits and for aliases; empty: none are kept.
    std::string state_dir = {};
    // Keys that are loaded at the same time. Loading is memory-hungry and uses several cores by itself.
    size_t loads_max = 1;
    // Threads of one load while others prove; 0: a quarter of the cores, at least one.
    size_t load_threads = 0;
  };
  struct Counts {
    size_t loading = 0;
    size_t ready = 0;
    size_t failed = 0;
    uint64_t changes = 0;  // so far: which of two counts is the later one
  };
  // Makes a loaded circuit provable on every device. Called on a loader's thread; may take long.
  using Installer = std::function<absl::Status(const Circuit&)>;
  // Undoes it. Called on a loader's thread, when no job of the circuit is left.
  using Remover = std::function<void(const Circuit&)>;
  // Told of every new snapshot, in order, with no lock held.
  using Listener = std::function<void(const Circuit&, const Counts&)>;
  struct Hooks {
    Installer install;
    Remover remove;     // may be empty
    Listener listener;  // may be empty
  };

  CircuitRegistry(Options options, Hooks hooks, Observer& observer);
  ~CircuitRegistry();  // Stop()
  CircuitRegistry(const CircuitRegistry&) = delete;
  CircuitRegistry& operator=(const CircuitRegistry&) = delete;

  // Scans the directory, lists every circuit as loading, and begins to load. Called once.
  //   NOT_FOUND, FAILED_PRECONDITION  the directory is not there or cannot be read, or the file of aliases is
  //   bad.
  absl::Status Start();
  // Loads nothing more; waits for the loads that are under way. Idempotent.
  void Stop();

  // A name is the id of a circuit, or an alias.
  // The circuit in its present state, or null.
  CircuitPtr Find(std::string_view name) const;
  // All of them, by id.
  std::vector<CircuitPtr> List() const;
  // The circuit if it can be proved now. An empty `version` means any.
  //   NOT_FOUND CIRCUIT_UNKNOWN, UNAVAILABLE CIRCUIT_LOADING (with a retry delay),
  //   FAILED_PRECONDITION CIRCUIT_FAILED, FAILED_PRECONDITION VERSION_MISMATCH
  absl::StatusOr<CircuitPtr> FindReady(std::string_view name, std::string_view version) const;

  // Looks for the key of circuit `id` in the directory as it is now, and begins to load it: the state is
  // loading then, or the circuit is ready and reloading. One that is being loaded already is left alone.
  // Blocks while the directory is read.
  //   NOT_FOUND CIRCUIT_UNKNOWN           the directory has no key of that id.
  //   FAILED_PRECONDITION CIRCUIT_FAILED  the directory cannot be read.
  //   FAILED_PRECONDITION ALIAS_CONFLICT  an alias has that name.
  //   UNAVAILABLE DRAINING                Stop() was called.
  absl::StatusOr<CircuitPtr> Load(std::string_view id);
  // From now on no request finds the circuit; its state is unloading, or unloaded if nobody uses it.
  //   NOT_FOUND CIRCUIT_UNKNOWN           there is no such circuit.
  //   FAILED_PRECONDITION ALIAS_CONFLICT  an alias points to it.
  //   UNAVAILABLE CIRCUIT_LOADING         it is being loaded (with a retry delay).
  absl::StatusOr<CircuitPtr> Unload(std::string_view id);

  // Lets `alias` point to circuit `id`, which must be ready; an empty `id` removes it. Returns where it
  // pointed before, empty if it was not there. Blocks while the file of aliases is written.
  //   NOT_FOUND CIRCUIT_UNKNOWN            no circuit has that id; or there is no such alias to be removed.
  //   FAILED_PRECONDITION ALIAS_CONFLICT   a circuit has the name of the alias.
  //   RESOURCE_EXHAUSTED QUOTA_EXCEEDED    there are too many aliases.
  //   UNAVAILABLE CIRCUIT_LOADING, FAILED_PRECONDITION CIRCUIT_FAILED  as FindReady().
  //   INTERNAL INTERNAL                    the file of aliases cannot be written; nothing has changed.
  absl::StatusOr<std::string> SetAlias(std::string_view alias, std::string_view id);
  CircuitAliases aliases() const;

  // Tells `watcher` of every change from now on, as long as it lives.
  void Watch(std::weak_ptr<CircuitWatcher> watcher);

  Counts counts() const;
  // Waits until no circuit is loading, or until `deadline`; returns whether none is.
  bool WaitUntilSettled(std::chrono::steady_clock::time_point deadline);

 private:
  struct Entry {
    CircuitPtr circuit;
    bool loading = false;  // a load is waiting or under way
    size_t held = 0;       // keys on the devices: of this circuit and of earlier ones under its id
  };
  struct Change {
    CircuitPtr circuit;
    Counts counts;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void LoadLoop();
  // Threads for the next load; 0: all.
  size_t ThreadsForLoad() const;
  void LoadOne(const CircuitFiles& files);
  // Reads, checks and installs. `before` is what the key takes the place of, or null; when it is the same
  // the result has no hold. Fills `circuit` as far as it comes.
  absl::Status TryLoad(const CircuitFiles& files, const CircuitPtr& before, Circuit& circuit);
  void TellStep(const std::string& id, std::string_view step);
  void ReleaseOne(const Circuit& circuit);

  CircuitPtr FindLocked(std::string_view name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<CircuitPtr> FindReadyLocked(std::string_view name, std::string_view version) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes `circuit` the present snapshot under its id and queues the news; Deliver() is to follow without the
  // lock.
  CircuitPtr PublishLocked(Circuit circuit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets a circuit that was unloaded, once its last key has gone.
  CircuitPtr EraseIfGoneLocked(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Counts CountsLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tells the news, unless another thread is doing so: that one then tells these too.
  void Deliver();

  const Options options_;
  const Hooks hooks_;
  Observer& observer_;
  const std::shared_ptr<CircuitWork> work_ = std::make_shared<CircuitWork>();

  // Held for the whole of a change of aliases, the file included, and of Load() and Unload().
  Mutex alias_mu_;
  mutable Mutex mu_;
  CondVar settled_;
  Entries circuits_ ABSL_GUARDED_BY(mu_);
  CircuitAliases aliases_ ABSL_GUARDED_BY(mu_);
  std::list<Change> news_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<CircuitWatcher>> watchers_ ABSL_GUARDED_BY(mu_);
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool settled_once_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> loaders_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_REGISTRY_H_
