// The engine with GPUs behind it, when one of them fails. Without a GPU the test is skipped, and says so;
// with one, the CPU is the other device.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/dispatch/device_runner.h"
#include "engine/dispatch/engine.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

class EngineWithGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto count = CountCudaDevices();
    if (!count.ok()) GTEST_SKIP() << "skipped: no GPU";
    for (const std::string& name : names_) folder_.AddKey(name, name);
    std::vector<std::unique_ptr<Groth16Backend>> backends;
    for (int device = 0; device < *count; ++device) {
      auto backend = MakeCudaBackend({.device = device});
      ASSERT_TRUE(backend.ok()) << backend.status();
      if (device == 0) failing_ = backend->get();
      backends.push_back(*std::move(backend));
    }
    if (backends.size() == 1) backends.push_back(MakeCpuBackend({.threads = 2, .name = "cpu:0"}));
    EngineOptions options;
    options.circuits.directory = folder_.path();
    options.device_faults_max = 1'000'000;  // only one that is lost goes out of service
    auto engine = Engine::Start(options, MakeDeviceRunners(std::move(backends)), observer_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    ASSERT_TRUE(engine_->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));
    ASSERT_EQ(engine_->circuits().counts().ready, names_.size());
  }

  // One proof, verified. `number` picks the circuit.
  void ProveOne(size_t number) {
    const std::string& name = names_[number % names_.size()];
    ProveRequest request;
    request.circuit = name;
    request.witness = CaseWitness(name);
    const Reply reply;
    ASSERT_TRUE(engine_->Submit(std::move(request), reply.done(), reply.progress()).ok());
    const auto result = reply.Wait();
    ASSERT_TRUE(result.ok()) << result.status();
    const CircuitPtr circuit = engine_->circuits().Find(name);
    EXPECT_TRUE(*Verify(circuit->key->vk(), Groth16Of(*result).public_signals, Groth16Of(*result).proof));
  }

  const std::vector<std::string> names_ = {"mul3", "sj-mul3", "sj-outonly", "unused"};
  CircuitFolder folder_;
  CountingObserver observer_;
  CudaBackend* failing_ = nullptr;
  std::unique_ptr<Engine> engine_;  // ends before what it observes
};

TEST_F(EngineWithGpuTest, ADeviceThatIsLostUnderLoadLosesNoJob) {
  constexpr size_t kClients = 8, kProofs = 40;
  std::atomic<size_t> done{0};
  std::vector<std::thread> clients;
  for (size_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      for (size_t i = 0; i < kProofs; ++i) {
        ProveOne(client + i);
        if (++done == kClients * kProofs / 4) failing_->calls().FailCall(50, cudaErrorIllegalAddress);
      }
    });
  }
  for (std::thread& client : clients) client.join();

  EXPECT_EQ(done, kClients * kProofs);
  EXPECT_TRUE(failing_->lost());
  const EngineStats stats = engine_->stats();
  EXPECT_EQ(stats.devices_up, stats.devices - 1);
}

TEST_F(EngineWithGpuTest, WhicheverCallOfAProofFailsTheJobIsProved) {
  const uint64_t before = failing_->calls().count();
  for (size_t i = 0; i < 8; ++i) ProveOne(i);
  const uint64_t calls = failing_->calls().count() - before;
  ASSERT_GT(calls, 20U) << "the device took part";

  for (uint64_t n = 0; n < calls; ++n) {
    SCOPED_TRACE(n);
    failing_->calls().FailCall(n, cudaErrorLaunchOutOfResources);
    for (size_t i = 0; i < 8; ++i) ProveOne(i);
  }
  EXPECT_FALSE(failing_->lost());
  EXPECT_EQ(engine_->stats().devices_up, engine_->stats().devices);
}

}  // namespace
}  // namespace proofmill::engine
