// The engine with the real prover on the CPU, when memory cannot be had: whichever allocation of a proof or
// of a key load fails, that job or load ends with one clean error, nothing is lost, and the next one is good.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"
#include "engine/dispatch/device_runner.h"
#include "engine/dispatch/engine.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "kernels/cpu/large_memory_counts.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/failing_new.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using kernels::CountLargeMemory;
using kernels::FailLargeAllocation;

constexpr uint64_t kNever = UINT64_MAX / 2;
constexpr uint64_t kAllocationsMax = 20'000;  // a loop that goes on for longer is broken

void ExpectCleanRefusal(const absl::Status& status) {
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(GetReason(status), ErrorReason::kOutOfMemory) << status;
  EXPECT_FALSE(status.message().empty());
  EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
}

// What the test does with an answer or with news is no part of the engine.
template <typename F>
auto Quietly(F callback) {
  return [callback = std::move(callback)](auto&&... arguments) {
    const LeftOutOfFaults left_out;
    callback(std::forward<decltype(arguments)>(arguments)...);
  };
}

// Calls `begin` when a job begins to run; in all else the runner that it was given.
class RunnerWithHook final : public JobRunner {
 public:
  explicit RunnerWithHook(std::unique_ptr<JobRunner> runner) : runner_(std::move(runner)) {}

  void CallAtNextRun(std::function<void()> begin) {
    MutexLock lock(mu_);
    begin_ = std::move(begin);
  }

  DeviceInfo info() const override { return runner_->info(); }
  absl::Status Install(const Circuit& circuit) override { return runner_->Install(circuit); }
  void Remove(const Circuit& circuit) override { runner_->Remove(circuit); }
  RunOutcome Run(const Circuit& circuit, const ProofInput& witness, const RunContext& context) override {
    std::function<void()> begin;
    {
      MutexLock lock(mu_);
      begin = std::exchange(begin_, nullptr);
    }
    if (begin) begin();
    return runner_->Run(circuit, witness, context);
  }
  bool HasCanary(const Circuit& circuit) const override { return runner_->HasCanary(circuit); }
  RunOutcome ProveCanary(const Circuit& circuit, const RunContext& context) override {
    return runner_->ProveCanary(circuit, context);
  }
  std::vector<DeviceMemory> Memory() const override { return runner_->Memory(); }

 private:
  const std::unique_ptr<JobRunner> runner_;
  Mutex mu_;
  std::function<void()> begin_ ABSL_GUARDED_BY(mu_);
};

class EngineMemoryFaultsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_.AddKey(GetParam(), GetParam());
    folder_.AddCanary(GetParam(), GetParam());
    EngineOptions options;
    options.circuits.directory = folder_.path();
    std::vector<std::unique_ptr<Groth16Backend>> backends;
    backends.push_back(MakeCpuBackend({.threads = 2, .name = "cpu:0"}));
    std::vector<std::unique_ptr<JobRunner>> runners;
    auto hooked = std::make_unique<RunnerWithHook>(std::move(MakeDeviceRunners(std::move(backends))[0]));
    runner_ = hooked.get();
    runners.push_back(std::move(hooked));
    auto engine = Engine::Start(options, std::move(runners), observer_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    ASSERT_TRUE(engine_->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));
    ASSERT_EQ(engine_->circuits().counts().ready, 1u);
  }

  void TearDown() override {
    StopFailingNew();
    FailLargeAllocation(kNever);
  }

  // A proof of the circuit, or why there is none.
  absl::StatusOr<ProveResult> ProveOnce() {
    const LeftOutOfFaults left_out;  // this thread only waits
    ProveRequest request;
    request.circuit = GetParam();
    request.witness = CaseWitness(GetParam());
    const Reply reply;
    const auto ticket = engine_->Submit(std::move(request), Quietly(reply.done()), Quietly(reply.progress()));
    if (!ticket.ok()) return ticket.status();
    auto result = reply.Wait();
    StopFailingNew();
    EXPECT_TRUE(engine_->WaitUntilIdle(std::chrono::steady_clock::now() + kPatience));
    return result;
  }

  void ExpectGood(const absl::StatusOr<ProveResult>& result) {
    ASSERT_TRUE(result.ok()) << result.status();
    const CircuitPtr circuit = engine_->circuits().Find(GetParam());
    ASSERT_NE(circuit->key, nullptr);
    EXPECT_TRUE(*Verify(circuit->key->vk(), Groth16Of(*result).public_signals, Groth16Of(*result).proof));
  }

  CircuitFolder folder_;
  Observer observer_;  // hears all and keeps nothing
  RunnerWithHook* runner_ = nullptr;
  std::unique_ptr<Engine> engine_;
};

TEST_P(EngineMemoryFaultsTest, WhicheverArrayOfAProofCannotBeHadTheProofFailsAloneAndTheNextIsGood) {
  ExpectGood(ProveOnce());
  const uint64_t in_use = CountLargeMemory().in_use;
  uint64_t failed = 0;
  for (uint64_t n = 0; n < kAllocationsMax; ++n) {
    SCOPED_TRACE(n);
    runner_->CallAtNextRun([n] { FailLargeAllocation(n); });
    const uint64_t before = CountLargeMemory().calls;
    const auto result = ProveOnce();
    const bool none_left = CountLargeMemory().calls - before <= n;
    FailLargeAllocation(kNever);
    if (none_left) break;  // the witness of the request was counted, too

    if (result.ok()) {
      ExpectGood(result);  // done without what could not be had
    } else {
      ++failed;
      ExpectCleanRefusal(result.status());
    }
    EXPECT_EQ(CountLargeMemory().in_use, in_use);
    ExpectGood(ProveOnce());
    EXPECT_EQ(CountLargeMemory().in_use, in_use);
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 5u);
  EXPECT_EQ(engine_->stats().devices_up, 1u) << "no memory is no fault of the device";
}

TEST_P(EngineMemoryFaultsTest, WhicheverCallOfNewFailsFromTheStartOfAProofToItsAnswerTheNextIsGood) {
  ExpectGood(ProveOnce());
  const uint64_t in_use = CountLargeMemory().in_use;
  uint64_t failed = 0;
  for (uint64_t n = 0; n < kAllocationsMax; ++n) {
    SCOPED_TRACE(n);
    runner_->CallAtNextRun([n] { FailNew(n); });
    const auto result = ProveOnce();
    const uint64_t calls = StopFailingNew();
    if (calls <= n) break;

    if (result.ok()) {
      ExpectGood(result);
    } else {
      ++failed;
      ExpectCleanRefusal(result.status());
    }
    ExpectGood(ProveOnce());
    EXPECT_EQ(CountLargeMemory().in_use, in_use);
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 5u);
  EXPECT_EQ(engine_->stats().devices_up, 1u) << "no memory is no fault of the device";
}

TEST_P(EngineMemoryFaultsTest, WhicheverArrayOfAKeyLoadCannotBeHadTheNextLoadAndItsProofsAreGood) {
  CircuitRegistry& circuits = engine_->circuits();
  const auto settle = [&] { return circuits.WaitUntilSettled(std::chrono::steady_clock::now() + kPatience); };
  // The circuit once more, under another name.
  const std::string again = "again";
  folder_.AddKey(again, GetParam());
  folder_.AddCanary(again, GetParam());
  uint64_t failed = 0;
  const uint64_t in_use = CountLargeMemory().in_use;
  for (uint64_t n = 0; n < kAllocationsMax; ++n) {
    SCOPED_TRACE(n);
    FailLargeAllocation(n);
    const uint64_t before = CountLargeMemory().calls;
    ASSERT_TRUE(circuits.Load(again).ok());
    ASSERT_TRUE(settle());
    const bool none_left = CountLargeMemory().calls - before <= n;
    FailLargeAllocation(kNever);
    const CircuitPtr circuit = circuits.Find(again);
    ASSERT_NE(circuit, nullptr);
    if (none_left) {
      EXPECT_EQ(circuit->state, CircuitState::kReady) << circuit->failure;
      break;
    }
    ++failed;
    ASSERT_EQ(circuit->state, CircuitState::kFailed);
    ExpectCleanRefusal(circuit->failure);
    ExpectGood(ProveOnce());  // of the circuit that was there before
    EXPECT_EQ(CountLargeMemory().in_use, in_use);
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 10u);
  EXPECT_EQ(circuits.counts().ready, 2u);
}

INSTANTIATE_TEST_SUITE_P(Circuits, EngineMemoryFaultsTest, testing::Values("mul3", "unused"));

}  // namespace
}  // namespace proofmill::engine
