// A GPU that is lost by a kernel that traps, as a kernel with a bug or a failing card would: the real error,
// not one that is put in its place. Each test runs in a process of its own, since that process is lost for
// CUDA afterwards. Without a GPU the tests are skipped, and say so.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/base/error_reason.h"
#include "engine/dispatch/device_runner.h"
#include "engine/dispatch/engine.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/trap.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

constexpr std::chrono::milliseconds kCanaryInterval{200};

// Ends the process of a test that finds something else than it should.
void Require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
  std::_Exit(1);
}

bool Becomes(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// An engine on GPU 0 and, if asked for, the CPU, with a circuit that has a canary.
class Scene {
 public:
  explicit Scene(bool with_cpu) {
    folder_.AddKey("mul3", "mul3");
    folder_.AddCanary("mul3", "mul3");
    std::vector<std::unique_ptr<Groth16Backend>> backends;
    auto gpu = MakeCudaBackend();
    Require(gpu.ok(), std::string(gpu.status().message()));
    backends.push_back(*std::move(gpu));
    if (with_cpu) backends.push_back(MakeCpuBackend({.threads = 2, .name = "cpu:0"}));
    EngineOptions options;
    options.circuits.directory = folder_.path();
    options.canary_interval = kCanaryInterval;
    auto engine = Engine::Start(options, MakeDeviceRunners(std::move(backends)), observer_);
    Require(engine.ok(), std::string(engine.status().message()));
    engine_ = *std::move(engine);
    Require(Becomes([&] { return engine_->health().status().ready; }), "the engine becomes ready");
  }

  Engine& engine() { return *engine_; }
  bool gpu_up() { return engine_->devices()[0].up; }
  int errors(const std::string& error_class) { return observer_.totals().errors[error_class]; }

  // One proof, verified; what came instead of it.
  absl::Status Prove() {
    ProveRequest request;
    request.circuit = "mul3";
    request.witness = CaseWitness("mul3");
    const Reply reply;
    const absl::Status taken = engine_->Submit(std::move(request), reply.done(), reply.progress()).status();
    if (!taken.ok()) return taken;
    const auto result = reply.Wait();
    if (!result.ok()) return result.status();
    const CircuitPtr circuit = engine_->circuits().Find("mul3");
    const auto good = Verify(circuit->key->vk(), Groth16Of(*result).public_signals, Groth16Of(*result).proof);
    Require(good.ok() && *good, "a proof that was answered verifies");
    return absl::OkStatus();
  }

 private:
  CircuitFolder folder_;
  CountingObserver observer_;
  std::unique_ptr<Engine> engine_;  // ends before what it observes
};

void TrapAndCheckThatItSticks() {
  const cudaError_t error = TrapDevice(0);
  Require(error == cudaErrorLaunchFailure,
          std::string("a trap is a launch failure, got ") + cudaGetErrorName(error));
  void* memory = nullptr;
  Require(cudaMalloc(&memory, 1) != cudaSuccess, "after a trap nothing works");
}

void FindsALostGpuWithoutARequest() {
  {
    Scene scene(/*with_cpu=*/false);
    Require(scene.Prove().ok(), "the GPU proves");
    TrapAndCheckThatItSticks();

    Require(Becomes([&] { return !scene.gpu_up(); }), "an idle GPU that is lost is found by its canary");

    const HealthStatus health = scene.engine().health().status();
    Require(!health.live && !health.ready, "only a new process helps");
    Require(scene.errors("sticky") == 1, "the error is counted as sticky, once");
    Require(GetReason(scene.Prove()) == ErrorReason::kNoDevice, "requests are refused with NO_DEVICE");
    scene.engine().Shutdown(scene.engine().clock().Now() + std::chrono::seconds(10));
  }
  std::fprintf(stderr, "found, and ended\n");
  std::exit(0);  // with all that CUDA does at the end of a process
}

void LosesNoJob() {
  constexpr int kClients = 8, kProofs = 40;
  {
    Scene scene(/*with_cpu=*/true);
    std::atomic<int> proved{0};
    std::vector<std::thread> clients;
    clients.reserve(kClients);
    for (int client = 0; client < kClients; ++client) {
      clients.emplace_back([&] {
        for (int i = 0; i < kProofs; ++i) {
          const absl::Status status = scene.Prove();
          Require(status.ok(), std::string(status.message()));
          if (++proved == kClients * kProofs / 4) TrapAndCheckThatItSticks();
        }
      });
    }
    for (std::thread& client : clients) client.join();
    Require(proved == kClients * kProofs, "every job is proved");
    Require(Becomes([&] { return !scene.gpu_up(); }), "the GPU is out of service");
    Require(scene.engine().health().status().ready, "the CPU goes on");
    Require(scene.errors("sticky") >= 1, "the error is counted as sticky");
  }
  std::fprintf(stderr, "nothing lost\n");
  std::exit(0);
}

class TrapTest : public testing::Test {
 protected:
  void SetUp() override {
    // Starts the program anew for each child: CUDA does not survive fork().
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!CountCudaDevices().ok()) GTEST_SKIP() << "skipped: no GPU";
  }
};

TEST_F(TrapTest, AnIdleGpuThatIsLostIsFoundWithoutARequest) {
  EXPECT_EXIT(FindsALostGpuWithoutARequest(), testing::ExitedWithCode(0), "found, and ended");
}

TEST_F(TrapTest, AGpuThatIsLostUnderLoadLosesNoJob) {
  EXPECT_EXIT(LosesNoJob(), testing::ExitedWithCode(0), "nothing lost");
}

}  // namespace
}  // namespace proofmill::engine
