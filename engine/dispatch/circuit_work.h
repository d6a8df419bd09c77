// What the loaders of circuits have to do: circuits to load, and circuits whose keys nobody uses any more.
//
// Every snapshot of a circuit whose key is on the devices has a share in one hold. When the last share goes,
// on whatever thread and under whatever lock that is, the circuit is handed over here, and a loader takes its
// key off the devices.
//
// Thread safety: every method may be called from any thread.
// Locks: its own, inside of every other. Giving a hold up takes that lock, allocates nothing and never
// throws. Lifetime: holds may outlive the registry and its loaders; what is given up after Stop() is just let
// go of.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_WORK_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_WORK_H_

#include <deque>
#include <list>
#include <memory>
#include <optional>

#include "engine/base/mutex.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/circuit_files.h"

namespace proofmill::engine {

class CircuitWork : public std::enable_shared_from_this<CircuitWork> {
 public:
  struct Task {
    std::list<Circuit> release;        // first
    std::optional<CircuitFiles> load;  // then
  };

  // Makes the hold on `circuit`, which has just been installed.
  std::shared_ptr<const void> Hold(Circuit circuit);
  // First in, first out.
  void Load(CircuitFiles files);

  // Waits for work; false once Stop() was called.
  bool Next(Task& task);
  // Ends Next(), and forgets what nobody has taken.
  void Stop();

 private:
  class HoldOnCircuit;
  void Release(std::list<Circuit>& circuit);

  Mutex mu_;
  CondVar changed_;
  std::list<Circuit> to_release_ ABSL_GUARDED_BY(mu_);
  std::deque<CircuitFiles> to_load_ ABSL_GUARDED_BY(mu_);
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_WORK_H_
