// The circuits of a directory: finds them, loads each once, and says what state each is in.
//
// The directory holds, for each circuit ID,
//   ID/circuit.zkey  or  ID.zkey          the proving key of Groth16, or
//   ID/circuit.whir.json  or  ID.whir.json  the parameters of WHIR (whir/files.h), which take its place
//   ID/canary.wtns   or  ID.canary.wtns   optional: a witness that satisfies it, proved before it is ready
//   ID/circuit.r1cs  or  ID.r1cs          optional: its constraints, to name one that a bad witness breaks
//   ID/verification_key.json              optional: compared with the key (groth16/proving_key.h)
// Names that begin with a dot are skipped; names that are no circuit ids are reported as ignored. The
// directory belongs to the operator, so symbolic links in it are followed (Kubernetes mounts volumes as
// links); what they lead to must be a regular file. Ids in requests are looked up in the table that the scan
// made and never become part of a path.
//
// One bad key fails alone: its circuit is listed as failed, with the reason.
//
// Thread safety: every method may be called from any thread, but for Start() and Stop(): the owner's thread.
// Lifetime: snapshots (CircuitPtr) may outlive the registry.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_REGISTRY_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_REGISTRY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/circuit_files.h"
#include "engine/dispatch/observer.h"

namespace proofmill::engine {

class CircuitRegistry {
 public:
  struct Options {
    std::string directory;
    // Accept keys whose phase 2 nobody contributed to (gamma2 = delta2): anyone can forge their proofs.
    bool allow_unsafe_setup = false;
    // Accept keys of `proofmill setup` and `proofmill synth`, whose trapdoor is known.
    bool allow_insecure_test_keys = false;
    std::string state_dir = {};  // for the records of key audits; empty: none are kept
    // Keys that are loaded at the same time. Loading is memory-hungry and uses all cores by itself.
    size_t loads_max = 1;
  };
  struct Counts {
    size_t loading = 0;
    size_t ready = 0;
    size_t failed = 0;
    uint64_t changes = 0;  // so far: which of two counts is the later one
  };
  // Makes a loaded circuit provable on every device. Called on a loader's thread; may take long.
  using Installer = std::function<absl::Status(const Circuit&)>;
  // Told of every new state, in order for each circuit, with no lock held.
  using Listener = std::function<void(const Circuit&, const Counts&)>;

  CircuitRegistry(Options options, Installer installer, Listener listener, Observer& observer);
  ~CircuitRegistry();  // Stop()
  CircuitRegistry(const CircuitRegistry&) = delete;
  CircuitRegistry& operator=(const CircuitRegistry&) = delete;

  // Scans the directory, lists every circuit as loading, and begins to load. Called once.
  //   NOT_FOUND, FAILED_PRECONDITION  the directory is not there or cannot be read.
  absl::Status Start();
  // Loads nothing more; waits for the loads that are under way. Idempotent.
  void Stop();

  // The circuit in its present state, or null.
  CircuitPtr Find(std::string_view id) const;
  // All of them, by id.
  std::vector<CircuitPtr> List() const;
  // The circuit if it can be proved now. An empty `version` means any.
  //   NOT_FOUND CIRCUIT_UNKNOWN, UNAVAILABLE CIRCUIT_LOADING (with a retry delay),
  //   FAILED_PRECONDITION CIRCUIT_FAILED, FAILED_PRECONDITION VERSION_MISMATCH
  absl::StatusOr<CircuitPtr> FindReady(std::string_view id, std::string_view version) const;

  Counts counts() const;
  // Waits until no circuit is loading, or until `deadline`; returns whether none is.
  bool WaitUntilSettled(std::chrono::steady_clock::time_point deadline);

 private:
  void LoadLoop();
  Circuit LoadOne(const CircuitFiles& files) const;
  void Publish(Circuit circuit);
  Counts CountsLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const Installer installer_;
  const Listener listener_;
  Observer& observer_;

  mutable Mutex mu_;
  CondVar settled_;
  std::map<std::string, CircuitPtr, std::less<>> circuits_ ABSL_GUARDED_BY(mu_);
  std::vector<CircuitFiles> to_load_ ABSL_GUARDED_BY(mu_);
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> loaders_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_REGISTRY_H_
