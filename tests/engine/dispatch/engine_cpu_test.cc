#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/dispatch/device_runner.h"
#include "engine/dispatch/engine.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

// The real prover behind the facade: several circuits, clients at once, every proof verified by the key it
// was asked for.
TEST(EngineWithCpuBackendTest, ProofsOfConcurrentClientsVerifyWithTheirOwnPublicSignals) {
  CircuitFolder folder;
  const std::vector<std::string> names = {"mul3", "sj-mul3", "sj-outonly", "unused"};
  for (const std::string& name : names) {
    folder.AddKey(name, name);
    folder.AddCanary(name, name);
  }
  CountingObserver observer;
  EngineOptions options;
  options.circuits.directory = folder.path();
  std::vector<std::unique_ptr<Groth16Backend>> backends;
  backends.push_back(MakeCpuBackend({.threads = 1, .name = "cpu:0"}));
  backends.push_back(MakeCpuBackend({.threads = 1, .name = "cpu:1"}));
  auto engine = Engine::Start(options, MakeDeviceRunners(std::move(backends)), observer);
  ASSERT_TRUE(engine.ok()) << engine.status();
  ASSERT_TRUE((*engine)->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));
  ASSERT_EQ((*engine)->circuits().counts().ready, names.size());

  std::vector<std::thread> clients;
  for (size_t client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      for (size_t i = 0; i < 4; ++i) {
        const std::string& name = names[(client + i) % names.size()];
        ProveRequest request;
        request.circuit = name;
        Witness witness = CaseWitness(name);
        std::vector<kernels::Fr> expected;
        const CircuitPtr circuit = (*engine)->circuits().Find(name);
        for (size_t k = 1; k <= circuit->key->n_public(); ++k) {
          expected.push_back(kernels::Fr::FromPlain(witness.values[k]));
        }
        request.witness = std::move(witness);
        const Reply reply;
        ASSERT_TRUE((*engine)->Submit(std::move(request), reply.done(), reply.progress()).ok());
        const auto result = reply.Wait();
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(Groth16Of(*result).public_signals, expected);
        EXPECT_TRUE(*Verify(circuit->key->vk(), Groth16Of(*result).public_signals, Groth16Of(*result).proof));
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace proofmill::engine
