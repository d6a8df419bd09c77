#include "engine/dispatch/health.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace proofmill::engine {

HealthStatus Health::status() const {
  MutexLock lock(mu_);
  return Compute();
}

HealthStatus Health::Compute() const {
  const bool device_up = std::any_of(device_problems_.begin(), device_problems_.end(),
                                     [](const auto& device) { return device.second.empty(); });
  HealthStatus status;
  status.live = device_up || device_problems_.empty();
  status.started = started_;
  status.draining = draining_;
  if (draining_) {
    status.why_not_ready = "draining";
  } else if (!device_up) {
    status.why_not_ready = "no device is up";
    for (const auto& [device, problem] : device_problems_) {
      absl::StrAppend(&status.why_not_ready, "; ", device, ": ", problem);
    }
  } else if (!started_) {
    status.why_not_ready = "circuits are being loaded";
  } else if (circuits_.ready == 0) {
    status.why_not_ready = absl::StrCat("no circuit is ready, ", circuits_.failed, " failed");
  }
  status.ready = status.why_not_ready.empty();
  return status;
}

void Health::AddListener(Listener listener) {
  HealthStatus now;
  auto subscription = std::make_shared<Subscription>();
  {
    MutexLock lock(mu_);
    now = Compute();
  }
  listener(now);
  subscription->listener = std::move(listener);
  subscription->told = std::move(now);
  {
    MutexLock lock(mu_);
    subscriptions_.push_back(std::move(subscription));
  }
  Deliver();  // what changed meanwhile
}

void Health::SetDevice(const std::string& device, bool up, const std::string& why) {
  {
    MutexLock lock(mu_);
    device_problems_[device] = up ? "" : (why.empty() ? "down" : why);
  }
  Deliver();
}

void Health::SetCircuits(const CircuitRegistry::Counts& counts) {
  {
    MutexLock lock(mu_);
    if (counts.changes < circuits_.changes) return;
    circuits_ = counts;
    started_ = started_ || counts.loading == 0;
  }
  Deliver();
}

void Health::SetDraining() {
  {
    MutexLock lock(mu_);
    draining_ = true;
  }
  Deliver();
}

void Health::Deliver() {
  {
    MutexLock lock(mu_);
    changed_ = true;
    if (delivering_) return;
    delivering_ = true;
  }
  while (true) {
    HealthStatus now;
    std::vector<std::shared_ptr<Subscription>> subscriptions;
    {
      MutexLock lock(mu_);
      if (!changed_) {
        delivering_ = false;
        return;
      }
      changed_ = false;
      now = Compute();
      subscriptions = subscriptions_;
    }
    // `told` belongs to the thread that delivers.
    for (const auto& subscription : subscriptions) {
      if (subscription->told == now) continue;
      subscription->told = now;
      subscription->listener(now);
    }
  }
}

}  // namespace proofmill::engine
