#include "engine/dispatch/circuit_registry.h"

#include <chrono>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "engine/base/error_reason.h"
#include "engine/groth16/synth.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/circuit_registry_fixture.h"

namespace proofmill::engine {
namespace {

using std::chrono::steady_clock;

TEST_F(CircuitRegistryTest, LoadsAKeyWithAllThatBelongsToIt) {
  folder_.AddKey("mul3", "mul3");
  folder_.AddCanary("mul3", "mul3");
  folder_.AddR1cs("mul3", "mul3");
  folder_.AddVerificationKey("mul3", "mul3");

  const CircuitPtr circuit = StartAndSettle().Find("mul3");

  ASSERT_NE(circuit, nullptr);
  ASSERT_EQ(circuit->state, CircuitState::kReady) << circuit->failure;
  EXPECT_EQ(circuit->id, "mul3");
  EXPECT_EQ(circuit->key->n_vars(), 7u);
  EXPECT_EQ(circuit->key_bytes, 4016u);
  EXPECT_EQ(circuit->version.size(), 128u);
  EXPECT_EQ(circuit->version.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(circuit->canary->values.size(), 7u);
  EXPECT_NE(circuit->r1cs_path.find("circuit.r1cs"), std::string::npos);
  EXPECT_GT(circuit->load_duration.count(), 0);
}

TEST_F(CircuitRegistryTest, OneBadKeyFailsAloneWithItsReason) {
  folder_.AddKey("good", "mul3");
  Bytes cut = ReadBytes(CasePath("mul3", "circuit.zkey"));
  cut.resize(cut.size() / 2);
  folder_.Write("cut.zkey", cut);
  folder_.Write("noise.zkey", Bytes(100, 0x5A));

  CircuitRegistry& registry = StartAndSettle();

  EXPECT_EQ(registry.Find("good")->state, CircuitState::kReady);
  for (const char* id : {"cut", "noise"}) {
    const CircuitPtr circuit = registry.Find(id);
    ASSERT_EQ(circuit->state, CircuitState::kFailed);
    EXPECT_FALSE(circuit->failure.message().empty());
    EXPECT_EQ(circuit->key, nullptr);
  }
  const CircuitRegistry::Counts counts = registry.counts();
  EXPECT_EQ(counts.ready, 1u);
  EXPECT_EQ(counts.failed, 2u);
  EXPECT_EQ(counts.loading, 0u);
}

TEST_F(CircuitRegistryTest, AVerificationKeyOfAnotherSetUpIsRefused) {
  folder_.AddKey("mul3", "mul3");
  folder_.AddVerificationKey("mul3", "sj-mul3");

  EXPECT_EQ(StartAndSettle().Find("mul3")->state, CircuitState::kFailed);
}

TEST_F(CircuitRegistryTest, KeysWithAKnownTrapdoorNeedTheOperatorsConsent) {
  SynthOptions synth;
  synth.log2_domain = 4;
  ASSERT_TRUE(Synthesize(synth, folder_.path() + "/synth.zkey", folder_.path() + "/synth.canary.wtns").ok());

  const CircuitPtr refused = StartAndSettle().Find("synth");
  EXPECT_EQ(refused->state, CircuitState::kFailed);
  EXPECT_EQ(GetReason(refused->failure), ErrorReason::kKeyUnsafe);

  options_.allow_insecure_test_keys = true;
  const CircuitPtr accepted = StartAndSettle().Find("synth");
  EXPECT_EQ(accepted->state, CircuitState::kReady);
  EXPECT_FALSE(accepted->warnings.empty());
}

TEST_F(CircuitRegistryTest, ACanaryOfAnotherCircuitIsRefused) {
  folder_.AddKey("mul3", "mul3");
  folder_.AddCanary("mul3", "unused");

  const CircuitPtr circuit = StartAndSettle().Find("mul3");

  EXPECT_EQ(circuit->state, CircuitState::kFailed);
  EXPECT_EQ(GetReason(circuit->failure), ErrorReason::kWitnessLength);
}

TEST_F(CircuitRegistryTest, ACircuitIsReadyOnlyOnceItIsInstalled) {
  folder_.AddKey("mul3", "mul3");
  Latch installing, go_on;
  installer_ = [&](const Circuit& circuit) {
    EXPECT_NE(circuit.key, nullptr);
    installing.Open();
    EXPECT_TRUE(go_on.Wait());
    return absl::OkStatus();
  };

  CircuitRegistry& registry = Start();
  ASSERT_TRUE(installing.Wait());
  const absl::Status loading = registry.FindReady("mul3", "").status();
  EXPECT_FALSE(registry.WaitUntilSettled(steady_clock::now()));
  go_on.Open();
  ASSERT_TRUE(registry.WaitUntilSettled(steady_clock::now() + kPatience));

  EXPECT_TRUE(absl::IsUnavailable(loading));
  EXPECT_EQ(GetReason(loading), ErrorReason::kCircuitLoading);
  EXPECT_TRUE(GetRetryDelay(loading).has_value());
  EXPECT_TRUE(registry.FindReady("mul3", "").ok());
}

TEST_F(CircuitRegistryTest, ACircuitThatCannotBeInstalledHasFailed) {
  folder_.AddKey("mul3", "mul3");
  installer_ = [](const Circuit&) { return absl::ResourceExhaustedError("no room on the device"); };

  const CircuitPtr circuit = StartAndSettle().Find("mul3");

  EXPECT_EQ(circuit->state, CircuitState::kFailed);
  EXPECT_EQ(std::string(circuit->failure.message()), "no room on the device");
  EXPECT_EQ(circuit->key, nullptr) << "the memory of a refused key is not kept";
}

TEST_F(CircuitRegistryTest, WantOfMemoryWhileLoadingFailsThatCircuitAlone) {
  folder_.AddKey("a", "mul3");
  folder_.AddKey("b", "mul3");
  installer_ = [](const Circuit& circuit) -> absl::Status {
    if (circuit.id == "a") throw std::bad_alloc();
    return absl::OkStatus();
  };

  CircuitRegistry& registry = StartAndSettle();

  EXPECT_EQ(GetReason(registry.Find("a")->failure), ErrorReason::kOutOfMemory);
  EXPECT_EQ(registry.Find("b")->state, CircuitState::kReady);
}

TEST_F(CircuitRegistryTest, EachRefusalOfALookUpHasItsOwnReason) {
  folder_.AddKey("mul3", "mul3");
  folder_.Write("bad.zkey", Bytes(12, 1));
  CircuitRegistry& registry = StartAndSettle();

  for (const char* unknown : {"unknown", "", "../mul3", "mul3/circuit.zkey", "x;touch pwn"}) {
    const absl::Status status = registry.FindReady(unknown, "").status();
    EXPECT_TRUE(absl::IsNotFound(status)) << unknown;
    EXPECT_EQ(GetReason(status), ErrorReason::kCircuitUnknown) << unknown;
  }
  const absl::Status failed = registry.FindReady("bad", "").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(failed));
  EXPECT_EQ(GetReason(failed), ErrorReason::kCircuitFailed);
  const absl::Status other_version = registry.FindReady("mul3", std::string(128, '0')).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(other_version));
  EXPECT_EQ(GetReason(other_version), ErrorReason::kVersionMismatch);
  EXPECT_TRUE(registry.FindReady("mul3", registry.Find("mul3")->version).ok());
}

TEST_F(CircuitRegistryTest, TheVersionIsThatOfTheBytes) {
  folder_.AddKey("one", "mul3");
  folder_.AddKey("same", "mul3");
  folder_.AddKey("other", "sj-mul3");
  CircuitRegistry& registry = StartAndSettle();

  EXPECT_EQ(registry.Find("one")->version, registry.Find("same")->version);
  EXPECT_NE(registry.Find("one")->version, registry.Find("other")->version);
}

TEST_F(CircuitRegistryTest, ListenersHearOfEveryStateAndOfTheCounts) {
  folder_.AddKey("a", "mul3");
  folder_.Write("b.zkey", Bytes(12, 1));
  CircuitRegistry::Counts last;
  listener_ = [&](const Circuit&, const CircuitRegistry::Counts& counts) {
    EXPECT_GT(counts.changes, last.changes);
    last = counts;
  };

  StartAndSettle().Stop();

  EXPECT_EQ(observer_.totals().circuit_history,
            (std::vector<std::string>{"a loading", "b loading", "a ready", "b failed"}));
  EXPECT_EQ(last.ready, 1u);
  EXPECT_EQ(last.failed, 1u);
}

TEST_F(CircuitRegistryTest, SeveralKeysMayLoadAtOnce) {
  for (const char* id : {"a", "b", "c"}) folder_.AddKey(id, "mul3");
  options_.loads_max = 3;
  Mutex mu;
  CondVar changed;
  int inside = 0;
  installer_ = [&](const Circuit&) {
    const auto deadline = steady_clock::now() + kPatience;
    MutexLock lock(mu);
    ++inside;
    changed.NotifyAll();
    while (inside < 3 && changed.WaitUntil(mu, deadline)) {
    }
    EXPECT_EQ(inside, 3) << "all three are loaded at the same time";
    return absl::OkStatus();
  };

  EXPECT_EQ(StartAndSettle().counts().ready, 3u);
}

TEST_F(CircuitRegistryTest, StopLeavesWhatIsNotYetLoaded) {
  folder_.AddKey("a", "mul3");
  folder_.AddKey("b", "mul3");
  Latch installing, go_on;
  installer_ = [&](const Circuit&) {
    installing.Open();
    EXPECT_TRUE(go_on.Wait());
    return absl::OkStatus();
  };
  CircuitRegistry& registry = Start();
  ASSERT_TRUE(installing.Wait());
  std::thread stopper([&] { registry.Stop(); });
  EXPECT_FALSE(registry.WaitUntilSettled(steady_clock::now() + kPatience)) << "stopping ends the wait";
  go_on.Open();
  stopper.join();

  EXPECT_EQ(registry.Find("a")->state, CircuitState::kReady);
  EXPECT_EQ(registry.Find("b")->state, CircuitState::kLoading);
}

TEST_F(CircuitRegistryTest, AnEmptyDirectoryIsSettledAtOnce) {
  CircuitRegistry& registry = StartAndSettle();
  EXPECT_TRUE(registry.List().empty());
}

TEST_F(CircuitRegistryTest, AMissingDirectoryIsAnErrorOfTheStart) {
  options_.directory = folder_.path() + "/missing";
  CircuitRegistry registry(options_, {installer_, remover_, listener_}, observer_);
  EXPECT_TRUE(absl::IsNotFound(registry.Start()));
}

TEST_F(CircuitRegistryTest, AKeyThatIsNoRegularFileFailsWithoutHanging) {
  folder_.AddKey("good", "mul3");
  std::filesystem::create_directories(folder_.path() + "/odd/circuit.zkey");
  std::filesystem::create_symlink("/dev/zero", folder_.path() + "/device.zkey");
  std::filesystem::create_symlink("nowhere", folder_.path() + "/dangling.zkey");

  CircuitRegistry& registry = StartAndSettle();

  EXPECT_EQ(registry.Find("good")->state, CircuitState::kReady);
  for (const char* id : {"odd", "device", "dangling"}) {
    EXPECT_EQ(registry.Find(id)->state, CircuitState::kFailed) << id;
  }
}

constexpr char kSmallWhir[] =
    R"({"num_variables": 8, "folding": {"constant": 2}, "security_level": 30, "max_pow_bits": 6})";

Bytes BytesOf(const std::string& text) { return Bytes(text.begin(), text.end()); }

TEST_F(CircuitRegistryTest, WhirParametersBecomeACircuitThatSaysWhatItIs) {
  folder_.Write("a.whir.json", BytesOf(kSmallWhir));
  // The same parameters, more of them written out.
  folder_.Write(
      "b/circuit.whir.json",
      BytesOf(R"({"folding": {"constant": 2}, "max_pow_bits": 6, "profile": "strict", "num_claims": 1,
                            "num_variables": 8, "security_level": 30, "assumption": "JohnsonBound"})"));
  folder_.Write("c.whir.json", BytesOf(R"({"num_variables": 9, "security_level": 30, "max_pow_bits": 6})"));
  const CircuitRegistry& registry = StartAndSettle();

  const CircuitPtr a = registry.Find("a"), b = registry.Find("b"), c = registry.Find("c");

  ASSERT_EQ(a->state, CircuitState::kReady) << a->failure;
  EXPECT_EQ(a->system, ProofSystem::kWhir);
  EXPECT_EQ(a->key, nullptr);
  EXPECT_EQ(a->whir->parameters.num_variables, 8u);
  EXPECT_EQ(a->whir->parameters.assumption, WhirAssumption::kJohnsonBound);
  EXPECT_EQ(a->version.size(), 128u);
  EXPECT_EQ(a->version, b->version) << "the version is of the parameters, not of how they are written";
  EXPECT_NE(a->version, c->version);
  ASSERT_EQ(a->warnings.size(), 2u);
  EXPECT_NE(a->warnings[0].find("not hiding"), std::string::npos);
  EXPECT_NE(a->warnings[1].find("30 bits"), std::string::npos);
}

TEST_F(CircuitRegistryTest, WhirParametersThatAreNotOfferedAreRefusedWithAReason) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"num_variables": 8, "assumption": "CapacityBound"})", "conjectural"},
      {R"({"num_variables": 8, "profile": "pin"})", "profile"},
      {R"({"num_variables": 31})", "num_variables"},
      {R"({"folding": {"constant": 2}})", "num_variables: expected it, got none"},
      {R"({"num_variables": "20"})", "num_variables: expected a whole number from 0 on, got \"20\""},
      {R"({"num_variables": -1})", "num_variables: expected a whole number from 0 on, got -1"},
      {R"({"num_variables": 14.5})", "num_variables: expected a whole number from 0 on, got 14.5"},
      {R"({"num_variables": 14, "folding": 4})", "expected an object with constant, got 4"},
      {R"([])", "expected an object with num_variables, got []"},
      {R"({"num_variables": 8, "rate": 1})", "rate"},
      {R"({"num_variables": -8})", "parameters"},
      {R"([8])", "parameters"},
      {"", "parameters"},
      {R"({"num_variables": 20, "extension_degree": 4, "folding": {"constant": 6}, "security_level": 110})",
       "grind over budget"}};
  for (size_t i = 0; i < std::size(cases); ++i) {
    folder_.Write("c" + std::to_string(i) + ".whir.json", BytesOf(cases[i].first));
  }
  const CircuitRegistry& registry = StartAndSettle();
  for (size_t i = 0; i < std::size(cases); ++i) {
    const CircuitPtr circuit = registry.Find("c" + std::to_string(i));
    EXPECT_EQ(circuit->state, CircuitState::kFailed) << cases[i].first;
    EXPECT_EQ(GetReason(circuit->failure), ErrorReason::kKeyMalformed) << cases[i].first;
    EXPECT_NE(circuit->failure.message().find(cases[i].second), std::string::npos) << circuit->failure;
    EXPECT_EQ(circuit->failure.message().find(folder_.path()), std::string::npos) << circuit->failure;
    EXPECT_EQ(circuit->system, ProofSystem::kWhir);
  }
}

}  // namespace
}  // namespace proofmill::engine
