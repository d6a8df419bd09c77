// Loading, unloading and renaming circuits while the service runs.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/dispatch/circuit_aliases.h"
#include "kernels/cpu/parallel.h"
#include "tests/engine/dispatch/circuit_registry_fixture.h"

namespace proofmill::engine {
namespace {

using std::chrono::steady_clock;

// What the devices hold, by circuit; tests look at it from any thread.
class Devices {
 public:
  CircuitRegistry::Installer installer() {
    return [this](const Circuit& circuit) {
      MutexLock lock(mu_);
      ++held_[circuit.id];
      return absl::OkStatus();
    };
  }
  CircuitRegistry::Remover remover() {
    return [this](const Circuit& circuit) {
      MutexLock lock(mu_);
      --held_[circuit.id];
      changed_.NotifyAll();
    };
  }
  int held(const std::string& id) {
    MutexLock lock(mu_);
    return held_[id];
  }
  bool Becomes(const std::string& id, int count) {
    const auto deadline = steady_clock::now() + kPatience;
    MutexLock lock(mu_);
    while (held_[id] != count && changed_.WaitUntil(mu_, deadline)) {
    }
    return held_[id] == count;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::map<std::string, int> held_ ABSL_GUARDED_BY(mu_);
};

class CircuitChangesTest : public CircuitRegistryTest {
 protected:
  CircuitChangesTest() {
    installer_ = devices_.installer();
    remover_ = devices_.remover();
  }

  // Waits until what is under way has ended.
  static CircuitPtr Settled(CircuitRegistry& registry, const std::string& id) {
    const auto deadline = steady_clock::now() + kPatience;
    while (steady_clock::now() < deadline) {
      const CircuitPtr circuit = registry.Find(id);
      const bool busy =
          circuit != nullptr && (circuit->state == CircuitState::kLoading || circuit->reloading ||
                                 circuit->state == CircuitState::kUnloading);
      if (!busy) return circuit;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << id << " does not settle";
    return nullptr;
  }

  Devices devices_;
};

TEST_F(CircuitChangesTest, ACircuitThatCameLaterIsLoadedByItsId) {
  CircuitRegistry& registry = StartAndSettle();
  folder_.AddKey("late", "mul3");

  const auto loading = registry.Load("late");

  ASSERT_TRUE(loading.ok()) << loading.status();
  EXPECT_EQ((*loading)->state, CircuitState::kLoading);
  EXPECT_EQ((*loading)->load_step, "waiting");
  EXPECT_EQ(Settled(registry, "late")->state, CircuitState::kReady);
  EXPECT_TRUE(registry.FindReady("late", "").ok());
  EXPECT_EQ(devices_.held("late"), 1);
}

TEST_F(CircuitChangesTest, WhatIsNotThereIsNamedWithEveryFileThatWouldDo) {
  CircuitRegistry& registry = StartAndSettle();
  EXPECT_EQ(
      registry.Load("late").status().message(),
      "no key of circuit late in the folder of the circuits: expected one of late/circuit.zkey, late.zkey, "
      "late/circuit.whir.json and late.whir.json");
}

TEST_F(CircuitChangesTest, IdsAreLookedUpAndNeverBecomePaths) {
  folder_.AddKey("mul3", "mul3");
  CircuitRegistry& registry = StartAndSettle();

  for (const char* id :
       {"", "..", "../mul3", "mul3/circuit.zkey", "/etc/passwd", "mul3.zkey", "none", "a b"}) {
    EXPECT_EQ(GetReason(registry.Load(id).status()), ErrorReason::kCircuitUnknown) << id;
    EXPECT_EQ(GetReason(registry.Unload(id).status()), ErrorReason::kCircuitUnknown) << id;
    EXPECT_EQ(GetReason(registry.SetAlias("alias", std::string(id).empty() ? "?" : id).status()),
              ErrorReason::kCircuitUnknown)
        << id;
  }
  EXPECT_EQ(registry.List().size(), 1u);
}

TEST_F(CircuitChangesTest, AnUnloadedCircuitIsNotFoundAndItsKeyGoesWithItsLastUser) {
  folder_.AddKey("mul3", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  CircuitPtr user = *registry.FindReady("mul3", "");

  const auto unloading = registry.Unload("mul3");

  ASSERT_TRUE(unloading.ok()) << unloading.status();
  EXPECT_EQ((*unloading)->state, CircuitState::kUnloading);
  EXPECT_EQ(GetReason(registry.FindReady("mul3", "").status()), ErrorReason::kCircuitUnknown);
  EXPECT_TRUE(registry.Unload("mul3").ok()) << "it is on its way already";
  EXPECT_EQ(devices_.held("mul3"), 1) << "somebody uses it";
  EXPECT_NE(registry.Find("mul3"), nullptr);
  EXPECT_NE(user->key, nullptr);

  user.reset();

  EXPECT_TRUE(devices_.Becomes("mul3", 0));
  EXPECT_EQ(Settled(registry, "mul3"), nullptr);
  EXPECT_EQ(registry.counts().ready, 0u);
  EXPECT_EQ(GetReason(registry.Unload("mul3").status()), ErrorReason::kCircuitUnknown);
  registry.Stop();
  EXPECT_EQ(observer_.totals().circuit_history,
            (std::vector<std::string>{"mul3 loading", "mul3 ready", "mul3 unloading", "mul3 unloaded"}));
}

TEST_F(CircuitChangesTest, ACircuitComesBackWhileAnEarlierKeyOfItIsStillUsed) {
  folder_.AddKey("mul3", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  CircuitPtr user = *registry.FindReady("mul3", "");
  ASSERT_TRUE(registry.Unload("mul3").ok());

  ASSERT_TRUE(registry.Load("mul3").ok());
  EXPECT_EQ(Settled(registry, "mul3")->state, CircuitState::kReady);
  EXPECT_EQ(devices_.held("mul3"), 2);
  user.reset();

  EXPECT_TRUE(devices_.Becomes("mul3", 1));
  EXPECT_TRUE(registry.FindReady("mul3", "").ok());
}

TEST_F(CircuitChangesTest, AFailedCircuitIsLoadedAnewOrTakenOut) {
  folder_.Write("bad/circuit.zkey", Bytes(12, 1));
  folder_.Write("worse.zkey", Bytes(12, 1));
  CircuitRegistry& registry = StartAndSettle();
  folder_.AddKey("bad", "mul3");

  ASSERT_TRUE(registry.Load("bad").ok());
  EXPECT_EQ(Settled(registry, "bad")->state, CircuitState::kReady);
  EXPECT_EQ((*registry.Unload("worse"))->state, CircuitState::kUnloaded) << "nobody can use it";
  EXPECT_EQ(registry.Find("worse"), nullptr);
}

TEST_F(CircuitChangesTest, ANewKeyTakesThePlaceOfTheOneThatIsServed) {
  folder_.AddKey("c", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  CircuitPtr user = *registry.FindReady("c", "");
  const std::string old_version = user->version;
  folder_.AddKey("c", "sj-mul3");

  {
    const auto reloading = registry.Load("c");
    ASSERT_TRUE(reloading.ok()) << reloading.status();
    EXPECT_EQ((*reloading)->state, CircuitState::kReady);
    EXPECT_TRUE((*reloading)->reloading);
    EXPECT_EQ((*reloading)->version, old_version) << "the old one serves meanwhile";
  }
  const CircuitPtr now = Settled(registry, "c");
  EXPECT_EQ(now->state, CircuitState::kReady);
  EXPECT_NE(now->version, old_version);
  EXPECT_EQ(GetReason(registry.FindReady("c", old_version).status()), ErrorReason::kVersionMismatch);
  EXPECT_EQ(devices_.held("c"), 2) << "a job of the old one is still under way";
  EXPECT_EQ(user->version, old_version);
  user.reset();
  EXPECT_TRUE(devices_.Becomes("c", 1));
}

TEST_F(CircuitChangesTest, ANewKeyThatIsRefusedLeavesTheOldOneInPlace) {
  folder_.AddKey("c", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  const std::string version = registry.Find("c")->version;
  folder_.Write("c/circuit.zkey", Bytes(100, 7));

  ASSERT_TRUE(registry.Load("c").ok());
  const CircuitPtr kept = Settled(registry, "c");

  EXPECT_EQ(kept->state, CircuitState::kReady);
  EXPECT_EQ(kept->version, version);
  EXPECT_FALSE(kept->reload_failure.ok());
  EXPECT_TRUE(registry.FindReady("c", version).ok());
  EXPECT_EQ(devices_.held("c"), 1);

  folder_.AddKey("c", "mul3");
  ASSERT_TRUE(registry.Load("c").ok());
  EXPECT_TRUE(Settled(registry, "c")->reload_failure.ok()) << "the failure is forgotten with a good key";
  EXPECT_EQ(devices_.held("c"), 1) << "the same key is not placed twice";
}

TEST_F(CircuitChangesTest, WhatIsBeingLoadedIsLeftAlone) {
  folder_.AddKey("c", "mul3");
  Latch installing, go_on;
  installer_ = [&, install = devices_.installer()](const Circuit& circuit) {
    installing.Open();
    EXPECT_TRUE(go_on.Wait());
    return install(circuit);
  };
  CircuitRegistry& registry = Start();
  ASSERT_TRUE(installing.Wait());

  EXPECT_EQ((*registry.Load("c"))->state, CircuitState::kLoading);
  EXPECT_EQ((*registry.Load("c"))->load_step, "placing");
  const absl::Status unload = registry.Unload("c").status();
  EXPECT_EQ(GetReason(unload), ErrorReason::kCircuitLoading);
  EXPECT_TRUE(GetRetryDelay(unload).has_value());
  EXPECT_EQ(GetReason(registry.SetAlias("a", "c").status()), ErrorReason::kCircuitLoading);
  go_on.Open();

  EXPECT_EQ(Settled(registry, "c")->state, CircuitState::kReady);
  EXPECT_EQ(devices_.held("c"), 1) << "it was loaded once";
}

TEST_F(CircuitChangesTest, AnAliasPointsToOneCircuitOrTheOther) {
  folder_.AddKey("v1", "mul3");
  folder_.AddKey("v2", "sj-mul3");
  CircuitRegistry& registry = StartAndSettle();

  EXPECT_EQ(registry.SetAlias("c", "v1").value(), "");
  EXPECT_EQ((*registry.FindReady("c", ""))->id, "v1");
  EXPECT_EQ(registry.Find("c")->id, "v1");
  EXPECT_EQ(GetReason(registry.Unload("v1").status()), ErrorReason::kAliasConflict);
  EXPECT_EQ(registry.SetAlias("c", "v2").value(), "v1");
  EXPECT_EQ((*registry.FindReady("c", ""))->id, "v2");
  EXPECT_EQ(registry.List().size(), 2u) << "an alias is no circuit";
  EXPECT_TRUE(registry.Unload("v1").ok());
  EXPECT_EQ(registry.SetAlias("c", "").value(), "v2");
  EXPECT_EQ(GetReason(registry.FindReady("c", "").status()), ErrorReason::kCircuitUnknown);
  EXPECT_EQ(GetReason(registry.SetAlias("c", "").status()), ErrorReason::kCircuitUnknown);
}

TEST_F(CircuitChangesTest, AliasesAndCircuitsDoNotShareNames) {
  folder_.AddKey("v1", "mul3");
  folder_.Write("bad.zkey", Bytes(12, 1));
  CircuitRegistry& registry = StartAndSettle();

  EXPECT_EQ(GetReason(registry.SetAlias("v1", "v1").status()), ErrorReason::kAliasConflict);
  EXPECT_EQ(GetReason(registry.SetAlias("c", "bad").status()), ErrorReason::kCircuitFailed);
  ASSERT_TRUE(registry.SetAlias("c", "v1").ok());
  EXPECT_EQ(GetReason(registry.SetAlias("d", "c").status()), ErrorReason::kCircuitUnknown)
      << "an alias points to a circuit";
  folder_.AddKey("c", "mul3");
  EXPECT_EQ(GetReason(registry.Load("c").status()), ErrorReason::kAliasConflict);
}

TEST_F(CircuitChangesTest, AliasesOutliveTheProcessWhereThereIsAStateFolder) {
  TestFolder state;
  options_.state_dir = state.Path("");
  folder_.AddKey("v1", "mul3");
  ASSERT_TRUE(StartAndSettle().SetAlias("c", "v1").ok());
  EXPECT_EQ((*StartAndSettle().FindReady("c", ""))->id, "v1");

  folder_.AddKey("c", "mul3");
  EXPECT_EQ((*StartAndSettle().FindReady("c", ""))->id, "c") << "a circuit of that name has come";
  EXPECT_EQ(observer_.totals().ignored.count("c"), 1u);

  const std::string text = "v1 v2 v3\n";
  WriteBytes(AliasesPath(options_.state_dir), Bytes(text.begin(), text.end()));
  CircuitRegistry registry(options_, {installer_, remover_, listener_}, observer_);
  const absl::Status bad = registry.Start();
  EXPECT_TRUE(absl::IsFailedPrecondition(bad)) << bad;
  EXPECT_NE(std::string(bad.message()).find("circuit_aliases:1: "), std::string::npos) << bad;
}

TEST_F(CircuitChangesTest, AnAliasThatCannotBeKeptIsNotSet) {
  TestFolder state;
  options_.state_dir = state.Path("gone");
  std::filesystem::create_directories(options_.state_dir);
  folder_.AddKey("v1", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  std::filesystem::remove_all(options_.state_dir);

  const auto expect_not_kept = [&](const char* cause) {
    const absl::Status status = registry.SetAlias("c", "v1").status();
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    EXPECT_EQ(GetReason(status), ErrorReason::kInternal);
    EXPECT_NE(std::string(status.message()).find(cause), std::string::npos) << status;
    EXPECT_TRUE(registry.aliases().empty());
  };
  expect_not_kept("No such file or directory");
  // A disk that is full at the first byte.
  std::filesystem::create_directories(options_.state_dir);
  std::filesystem::create_symlink("/dev/full", AliasesPath(options_.state_dir));
  expect_not_kept("No space left on device");
}

TEST_F(CircuitChangesTest, LoadsAtRunTimeTakeFewThreads) {
  folder_.AddKey("early", "mul3");
  options_.load_threads = 1;
  std::map<std::string, size_t> threads;
  installer_ = [&](const Circuit& circuit) {
    threads[circuit.id] = kernels::CurrentThreads();
    return absl::OkStatus();
  };
  CircuitRegistry& registry = StartAndSettle();
  folder_.AddKey("late", "mul3");
  ASSERT_TRUE(registry.Load("late").ok());
  ASSERT_EQ(Settled(registry, "late")->state, CircuitState::kReady);
  registry.Stop();

  EXPECT_EQ(threads["early"], kernels::HardwareThreads());
  EXPECT_EQ(threads["late"], 1u);
}

TEST_F(CircuitChangesTest, WatchersAreToldOfEveryChange) {
  struct Watcher final : CircuitWatcher {
    void OnCircuitsChanged() override { ++calls; }
    std::atomic<int> calls{0};
  };
  folder_.AddKey("c", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  const auto watcher = std::make_shared<Watcher>();
  registry.Watch(watcher);
  registry.Watch(std::make_shared<Watcher>());  // gone at once

  ASSERT_TRUE(registry.Load("c").ok());
  Settled(registry, "c");
  registry.Stop();

  EXPECT_GE(watcher->calls, 4) << "waiting, reading, checking, done";
}

TEST_F(CircuitChangesTest, AfterTheEndNothingIsLoaded) {
  folder_.AddKey("c", "mul3");
  CircuitRegistry& registry = StartAndSettle();
  const CircuitPtr kept = registry.Find("c");
  registry.Stop();

  EXPECT_EQ(GetReason(registry.Load("c").status()), ErrorReason::kDraining);
  registry_.reset();
  EXPECT_EQ(kept->state, CircuitState::kReady) << "snapshots outlive the registry";
}

// Users come and go while the circuit is loaded and unloaded: nobody ever holds a key that the devices have
// let go.
TEST_F(CircuitChangesTest, AKeyThatIsHeldIsNeverTakenAway) {
  folder_.AddKey("c", "mul3");
  Mutex mu;
  std::set<const void*> on_devices;
  installer_ = [&](const Circuit& circuit) {
    MutexLock lock(mu);
    on_devices.insert(circuit.key.get());
    return absl::OkStatus();
  };
  remover_ = [&](const Circuit& circuit) {
    MutexLock lock(mu);
    EXPECT_EQ(on_devices.erase(circuit.key.get()), 1u);
  };
  CircuitRegistry& registry = StartAndSettle();
  std::atomic<bool> stop{false};
  std::atomic<int> found{0};
  std::vector<std::thread> users;
  users.reserve(3);
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!stop) {
        const auto circuit = registry.FindReady("c", "");
        if (!circuit.ok()) continue;
        std::this_thread::yield();
        ++found;
        MutexLock lock(mu);
        EXPECT_EQ(on_devices.count((*circuit)->key.get()), 1u);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(registry.Load("c").ok());
    Settled(registry, "c");
    const int before = found;
    while (found == before) std::this_thread::yield();
    ASSERT_TRUE(registry.Unload("c").ok());
  }
  Settled(registry, "c");
  stop = true;
  for (std::thread& user : users) user.join();
  EXPECT_TRUE(on_devices.empty());
}

}  // namespace
}  // namespace proofmill::engine
