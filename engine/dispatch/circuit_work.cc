#include "engine/dispatch/circuit_work.h"

#include <utility>

namespace proofmill::engine {

// The circuit is in a list of one, so that it can change hands without memory being asked for.
class CircuitWork::HoldOnCircuit {
 public:
  HoldOnCircuit(std::shared_ptr<CircuitWork> work, Circuit circuit) : work_(std::move(work)) {
    circuit_.push_back(std::move(circuit));
  }
  ~HoldOnCircuit() { work_->Release(circuit_); }
  HoldOnCircuit(const HoldOnCircuit&) = delete;
  HoldOnCircuit& operator=(const HoldOnCircuit&) = delete;

 private:
  const std::shared_ptr<CircuitWork> work_;
  std::list<Circuit> circuit_;
};

std::shared_ptr<const void> CircuitWork::Hold(Circuit circuit) {
  return std::make_shared<const HoldOnCircuit>(shared_from_this(), std::move(circuit));
}

void CircuitWork::Release(std::list<Circuit>& circuit) {
  MutexLock lock(mu_);
  if (stopped_) return;
  to_release_.splice(to_release_.end(), circuit);
  changed_.NotifyOne();
}

void CircuitWork::Load(CircuitFiles files) {
  MutexLock lock(mu_);
  if (stopped_) return;
  to_load_.push_back(std::move(files));
  changed_.NotifyOne();
}

bool CircuitWork::Next(Task& task) {
  task = Task();
  MutexLock lock(mu_);
  while (!stopped_ && to_release_.empty() && to_load_.empty()) changed_.Wait(mu_);
  if (stopped_) return false;
  task.release.swap(to_release_);
  if (!to_load_.empty()) {
    task.load = std::move(to_load_.front());
    to_load_.pop_front();
  }
  return true;
}

void CircuitWork::Stop() {
  std::list<Circuit> released;  // let go of after the lock
  MutexLock lock(mu_);
  stopped_ = true;
  to_load_.clear();
  released.swap(to_release_);
  changed_.NotifyAll();
}

}  // namespace proofmill::engine
