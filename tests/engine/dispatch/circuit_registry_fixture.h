// A registry over a folder of circuits, for its tests.

#ifndef PROOFMILL_TESTS_ENGINE_DISPATCH_CIRCUIT_REGISTRY_FIXTURE_H_
#define PROOFMILL_TESTS_ENGINE_DISPATCH_CIRCUIT_REGISTRY_FIXTURE_H_

#include <chrono>
#include <memory>

#include "engine/dispatch/circuit_registry.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {

class CircuitRegistryTest : public testing::Test {
 protected:
  // A registry over the folder. Tests change `installer_` and `options_` before.
  CircuitRegistry& Start() {
    options_.directory = folder_.path();
    registry_ = std::make_unique<CircuitRegistry>(
        options_, CircuitRegistry::Hooks{installer_, remover_, listener_}, observer_);
    EXPECT_TRUE(registry_->Start().ok());
    return *registry_;
  }
  CircuitRegistry& StartAndSettle() {
    CircuitRegistry& registry = Start();
    EXPECT_TRUE(registry.WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));
    return registry;
  }

  CircuitFolder folder_;
  CircuitRegistry::Options options_;
  CircuitRegistry::Installer installer_ = [](const Circuit&) { return absl::OkStatus(); };
  CircuitRegistry::Remover remover_;
  CircuitRegistry::Listener listener_;
  CountingObserver observer_;
  std::unique_ptr<CircuitRegistry> registry_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_DISPATCH_CIRCUIT_REGISTRY_FIXTURE_H_
