// Whether the process lives, has started, and can prove.
//
//   live     a restart would not help: not every device is down.
//   started  every circuit has settled, to ready or failed. Stays true.
//   ready    started, at least one circuit is ready, at least one device is up, and the process is not
//   draining.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_ENGINE_DISPATCH_HEALTH_H_
#define PROOFMILL_ENGINE_DISPATCH_HEALTH_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/dispatch/circuit_registry.h"

namespace proofmill::engine {

struct HealthStatus {
  bool live = true;
  bool started = false;
  bool ready = false;
  bool draining = false;
  // In words; empty when ready.
  std::string why_not_ready;

  friend bool operator==(const HealthStatus& a, const HealthStatus& b) {
    return a.live == b.live && a.started == b.started && a.ready == b.ready && a.draining == b.draining &&
           a.why_not_ready == b.why_not_ready;
  }
};

class Health {
 public:
  using Listener = std::function<void(const HealthStatus&)>;

  HealthStatus status() const;

  // Calls `listener` with the present status before it returns, and then with every new one, in order, one at
  // a time and with no lock held. Listeners stay until the end.
  void AddListener(Listener listener);

  // What it is made of.
  void SetDevice(const std::string& device, bool up, const std::string& why);
  // Counts that come late are known by their `changes` and left alone.
  void SetCircuits(const CircuitRegistry::Counts& counts);
  void SetDraining();

 private:
  HealthStatus Compute() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tells the listeners, unless another thread is doing so: that one then sees the change.
  void Deliver();

  mutable Mutex mu_;
  std::map<std::string, std::string> device_problems_ ABSL_GUARDED_BY(mu_);  // empty string: up
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  CircuitRegistry::Counts circuits_ ABSL_GUARDED_BY(mu_);
  bool draining_ ABSL_GUARDED_BY(mu_) = false;

  struct Subscription {
    Listener listener;
    HealthStatus told;
  };
  // Grown by AddListener(), called by the one thread that delivers; never shrinks.
  std::vector<std::shared_ptr<Subscription>> subscriptions_ ABSL_GUARDED_BY(mu_);
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool changed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_HEALTH_H_
