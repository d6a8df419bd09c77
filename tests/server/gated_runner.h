// A real device behind a gate, so that tests decide when a proof is made.

#ifndef PROOFMILL_TESTS_SERVER_GATED_RUNNER_H_
#define PROOFMILL_TESTS_SERVER_GATED_RUNNER_H_

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/dispatch/job_runner.h"

namespace proofmill::server {

// Thread safety: every method may be called from any thread.
class Gate {
 public:
  void Close() { Set(false); }
  void Open() { Set(true); }

  // Waits until the gate is open, or until `cancel` says that the work is not wanted any more, as devices do
  // between two stages.
  absl::Status Pass(const engine::CancellationToken& cancel) {
    engine::MutexLock lock(mu_);
    ++waiting_;
    changed_.NotifyAll();
    absl::Status status;
    while (!open_ && status.ok()) {
      changed_.WaitUntil(mu_, std::chrono::steady_clock::now() + std::chrono::milliseconds(2));
      status = cancel.Check();
    }
    --waiting_;
    changed_.NotifyAll();
    return status;
  }

  // Waits until `count` jobs are at the gate. False if that does not come about.
  bool AwaitWaiting(int count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    engine::MutexLock lock(mu_);
    while (waiting_ != count && std::chrono::steady_clock::now() < deadline)
      changed_.WaitUntil(mu_, deadline);
    return waiting_ == count;
  }

 private:
  void Set(bool open) {
    engine::MutexLock lock(mu_);
    open_ = open;
    changed_.NotifyAll();
  }

  engine::Mutex mu_;
  engine::CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mu_) = true;
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;
};

class GatedRunner final : public engine::JobRunner {
 public:
  // `gate` must outlive the runner.
  GatedRunner(std::unique_ptr<engine::JobRunner> device, Gate& gate)
      : device_(std::move(device)), gate_(gate) {}

  engine::DeviceInfo info() const override { return device_->info(); }
  absl::Status Install(const engine::Circuit& circuit) override { return device_->Install(circuit); }
  void Remove(const engine::Circuit& circuit) override { device_->Remove(circuit); }
  engine::RunOutcome Run(const engine::Circuit& circuit, const engine::ProofInput& witness,
                         const engine::RunContext& context) override {
    engine::RunOutcome outcome;
    outcome.status = gate_.Pass(context.cancel);
    return outcome.status.ok() ? device_->Run(circuit, witness, context) : outcome;
  }
  bool HasCanary(const engine::Circuit& circuit) const override { return device_->HasCanary(circuit); }
  engine::RunOutcome ProveCanary(const engine::Circuit& circuit, const engine::RunContext& context) override {
    engine::RunOutcome outcome;
    outcome.status = gate_.Pass(context.cancel);
    return outcome.status.ok() ? device_->ProveCanary(circuit, context) : outcome;
  }
  std::vector<engine::CanaryResult> TakeCanaryResults() override { return device_->TakeCanaryResults(); }
  std::vector<engine::DeviceMemory> Memory() const override { return device_->Memory(); }

 private:
  const std::unique_ptr<engine::JobRunner> device_;
  Gate& gate_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_TESTS_SERVER_GATED_RUNNER_H_
