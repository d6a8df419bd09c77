// Canaries of idle devices: when they are proved and whose, what they cost requests, and what a bad one does.

#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/dispatch/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr seconds kInterval{60};

// An engine over fake devices that all have a canary for every circuit, in virtual time.
class CanaryTest : public testing::Test {
 protected:
  CanaryTest() {
    options_.canary_interval = kInterval;
    for (const char* const id : {"a", "b", "c"}) folder_.AddKey(id, "mul3");
  }
  ~CanaryTest() override {
    go_on_.Open();
    engine_.reset();
  }

  // A device for each of `canaries`.
  void Start(const std::vector<FakeRunner::Canary>& canaries) {
    std::vector<std::unique_ptr<JobRunner>> runners;
    for (const FakeRunner::Canary& canary : canaries) {
      auto runner = std::make_unique<FakeRunner>("fake:" + std::to_string(runners.size()));
      runner->SetCanary([this, canary](const Circuit& circuit, const RunContext& context) {
        {
          MutexLock lock(mu_);
          begun_.push_back(circuit.id);
          changed_.NotifyAll();
        }
        return canary(circuit, context);
      });
      runners.push_back(std::move(runner));
    }
    options_.circuits.directory = folder_.path();
    auto engine = Engine::Start(options_, std::move(runners), observer_, clock_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    ASSERT_TRUE(engine_->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));
    ASSERT_EQ(engine_->circuits().counts().ready, 3u);
    // Which is told to health a moment later.
    engine_->health().AddListener([this](const HealthStatus& status) {
      if (status.ready) ready_.Open();
      if (!status.live) down_.Open();
    });
    ASSERT_TRUE(ready_.Wait());
  }
  static RunOutcome Good(const Circuit&, const RunContext&) { return {}; }
  static RunOutcome Bad(const Circuit&, const RunContext&) {
    RunOutcome outcome = FaultyRun(DeviceErrorClass::kSelfCheck);
    outcome.verdict = BlameVerdict::kDevice;
    return outcome;
  }

  absl::Status Submit(const Reply& reply) {
    ProveRequest request;
    request.circuit = "a";
    request.witness = CaseWitness("mul3");
    return engine_->Submit(std::move(request), reply.done(), reply.progress()).status();
  }
  // The circuits whose canaries were begun, once they are so many.
  std::vector<std::string> Begun(size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mu_);
    while (begun_.size() < count && changed_.WaitUntil(mu_, deadline)) {
    }
    return begun_;
  }
  // After time enough for a thread to begin what it should not.
  std::vector<std::string> BegunSoon() {
    std::this_thread::sleep_for(milliseconds(30));
    return Begun(0);
  }
  // Turns the clock until `count` canaries were begun.
  std::vector<std::string> TurnUntilBegun(size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (Begun(0).size() < count && std::chrono::steady_clock::now() < deadline) {
      clock_.Advance(seconds(1));
      std::this_thread::sleep_for(milliseconds(1));
    }
    return Begun(0);
  }

  Latch running_, go_on_, ready_, down_;  // before the engine, which may use them to its end
  Mutex mu_;
  CondVar changed_;
  std::vector<std::string> begun_ ABSL_GUARDED_BY(mu_);
  FakeClock clock_;
  CircuitFolder folder_;
  CountingObserver observer_;
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CanaryTest, AnIdleDeviceProvesOneCircuitAfterTheOther) {
  Start({Good});
  EXPECT_TRUE(engine_->devices()[0].last_proof.has_value()) << "the canaries of loading";
  clock_.Advance(kInterval - seconds(1));
  EXPECT_TRUE(BegunSoon().empty()) << "they count as proofs";

  clock_.Advance(seconds(1));
  EXPECT_EQ(Begun(1).size(), 1u);
  EXPECT_EQ(BegunSoon().size(), 1u) << "and so does this one";

  EXPECT_THAT(TurnUntilBegun(4), ElementsAre("a", "b", "c", "a"));
  EXPECT_TRUE(engine_->health().status().ready);
  EXPECT_EQ(observer_.totals().started, 0) << "it is no job";
  EXPECT_TRUE(observer_.totals().stages.empty());
}

TEST_F(CanaryTest, EachDeviceProvesItsOwn) {
  Start({Good, Good, Good});
  clock_.Advance(kInterval);
  EXPECT_THAT(Begun(3), ElementsAre("a", "a", "a"));
}

TEST_F(CanaryTest, ADeviceThatProvesForClientsNeedsNone) {
  Start({Good});
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(kInterval - seconds(1));
    const Reply reply;
    ASSERT_TRUE(Submit(reply).ok());
    ASSERT_TRUE(reply.Wait().ok());
    ASSERT_TRUE(engine_->WaitUntilIdle(clock_.Now() + kPatience));
  }
  EXPECT_TRUE(BegunSoon().empty());
}

TEST_F(CanaryTest, ARequestEndsTheCanaryAtItsNextStage) {
  Start({[this](const Circuit&, const RunContext& context) {
    running_.Open();
    return RunUntilCancelled(context);  // or for ever
  }});
  const Reply first;
  ASSERT_TRUE(Submit(first).ok());
  ASSERT_TRUE(first.Wait().ok());
  ASSERT_TRUE(engine_->WaitUntilIdle(clock_.Now() + kPatience));
  clock_.Advance(kInterval);
  ASSERT_TRUE(running_.Wait());
  EXPECT_EQ(engine_->EstimatedWait(Priority::kLow), Clock::duration{0}) << "the device counts as free";
  EXPECT_EQ(engine_->stats().running, 0u);

  const Reply reply;
  ASSERT_TRUE(Submit(reply).ok());

  EXPECT_TRUE(reply.Wait().ok());
  EXPECT_TRUE(engine_->health().status().ready);
  EXPECT_TRUE(observer_.totals().errors.empty()) << "a canary that was cancelled says nothing of the device";
}

TEST_F(CanaryTest, ADeviceThatWentBadIsFoundWithoutARequest) {
  Start({Bad});
  clock_.Advance(kInterval);

  EXPECT_TRUE(down_.Wait());
  EXPECT_FALSE(engine_->health().status().ready);
  EXPECT_THAT(engine_->health().status().why_not_ready, HasSubstr("3 faults in a row"));
  EXPECT_THAT(BegunSoon(), ElementsAre("a", "a", "a")) << "the same at once, and nothing once it is down";
  const auto totals = observer_.totals();
  EXPECT_EQ(totals.errors, (std::map<std::string, int>{{"self_check", 3}}));
  EXPECT_EQ(totals.blamed, (std::map<std::string, int>{{"device", 3}}));
  EXPECT_FALSE(totals.device_up.at("fake:0"));
}

TEST_F(CanaryTest, OneOfSeveralDevicesGoesAndTheOthersServe) {
  Start({Bad, Good});
  clock_.Advance(kInterval);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (engine_->devices()[0].up && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(1));
  }

  EXPECT_FALSE(engine_->devices()[0].up);
  EXPECT_TRUE(engine_->devices()[1].up);
  EXPECT_TRUE(engine_->health().status().ready);
  const Reply reply;
  ASSERT_TRUE(Submit(reply).ok());
  EXPECT_EQ(reply.Wait()->device, "fake:1");
}

TEST_F(CanaryTest, AGoodSecondProofForgivesABadFirstOne) {
  // The count is the device's own, of one thread at a time: it may begin a tenth proof after the test.
  Start({[proofs = std::make_shared<int>(0)](const Circuit& circuit, const RunContext& context) {
    return ++*proofs % 3 != 0 ? Bad(circuit, context) : RunOutcome();
  }});

  EXPECT_THAT(TurnUntilBegun(9), ElementsAre("a", "a", "a", "b", "b", "b", "c", "c", "c"));

  EXPECT_TRUE(engine_->devices()[0].up);
}

TEST_F(CanaryTest, ADeviceThatIsLostGoesWithTheFirstCanary) {
  Start({[](const Circuit&, const RunContext&) { return FaultyRun(DeviceErrorClass::kSticky, true); }});
  clock_.Advance(kInterval);
  EXPECT_TRUE(down_.Wait());
  EXPECT_THAT(BegunSoon(), ElementsAre("a"));
  EXPECT_EQ(observer_.totals().errors, (std::map<std::string, int>{{"sticky", 1}}));
}

TEST_F(CanaryTest, ACanaryThatHangsTakesTheDeviceOut) {
  Start({[this](const Circuit&, const RunContext&) {
    running_.Open();
    EXPECT_TRUE(go_on_.Wait());
    return RunOutcome();
  }});
  clock_.Advance(kInterval);
  ASSERT_TRUE(running_.Wait());
  clock_.Advance(options_.maximum_deadline * 2);
  EXPECT_TRUE(down_.Wait());
  EXPECT_EQ(observer_.totals().errors, (std::map<std::string, int>{{"timeout", 1}}));
}

TEST_F(CanaryTest, WantOfMemoryIsNotTheDevicesFault) {
  Start({[](const Circuit&, const RunContext&) -> RunOutcome { throw std::bad_alloc(); }});

  EXPECT_THAT(TurnUntilBegun(5), ElementsAre("a", "b", "c", "a", "b")) << "each after an interval";

  EXPECT_TRUE(engine_->devices()[0].up);
  EXPECT_GE(observer_.totals().errors.at("oom"), 4);
}

TEST_F(CanaryTest, CanariesTakeATwentiethOfTheTimeAtMost) {
  Start({[this](const Circuit&, const RunContext&) {
    clock_.Advance(seconds(10));
    return RunOutcome();
  }});
  clock_.Advance(kInterval);
  ASSERT_EQ(Begun(1).size(), 1u);
  const auto end = clock_.Now();

  TurnUntilBegun(2);

  EXPECT_GE(clock_.Now() - end, seconds(190)) << "and not after the interval of 60";
}

TEST_F(CanaryTest, AnUnloadedCircuitIsNotProved) {
  Start({Good});
  ASSERT_TRUE(engine_->circuits().Unload("b").ok());
  EXPECT_THAT(TurnUntilBegun(4), ElementsAre("a", "c", "a", "c"));
}

TEST_F(CanaryTest, ACircuitThatIsUnloadedWhileItsCanaryRunsGoesAfterIt) {
  Start({[this](const Circuit& circuit, const RunContext&) {
    if (circuit.id == "a") {
      running_.Open();
      EXPECT_TRUE(go_on_.Wait());
    }
    return RunOutcome();
  }});
  clock_.Advance(kInterval);
  ASSERT_TRUE(running_.Wait());
  ASSERT_TRUE(engine_->circuits().Unload("a").ok());
  ASSERT_NE(engine_->circuits().Find("a"), nullptr);
  EXPECT_EQ(engine_->circuits().Find("a")->state, CircuitState::kUnloading);

  go_on_.Open();

  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (engine_->circuits().Find("a") != nullptr && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(engine_->circuits().Find("a"), nullptr);
}

TEST_F(CanaryTest, NoneIsBegunOnceTheServiceDrains) {
  Start({Good});
  engine_->health().SetDraining();  // it still serves
  clock_.Advance(kInterval * 3);
  EXPECT_TRUE(BegunSoon().empty());
  engine_->BeginDrain();
  clock_.Advance(kInterval * 3);
  EXPECT_TRUE(BegunSoon().empty());
}

TEST_F(CanaryTest, AShutdownEndsTheOneThatRuns) {
  Start({[this](const Circuit&, const RunContext& context) {
    running_.Open();
    return RunUntilCancelled(context);
  }});
  clock_.Advance(kInterval);
  ASSERT_TRUE(running_.Wait());

  engine_->Shutdown(clock_.Now() + seconds(5));

  EXPECT_EQ(Begun(0).size(), 1u);
}

TEST_F(CanaryTest, NoneIsProvedWhereTheyAreTurnedOff) {
  options_.canary_interval = milliseconds(0);
  Start({Good});
  clock_.Advance(std::chrono::hours(24));
  EXPECT_TRUE(BegunSoon().empty());
}

TEST_F(CanaryTest, ADeviceThatStandsByProvesNoneUntilItIsNeeded) {
  options_.standby_runners = 1;
  const auto lost_later = [this](const Circuit&, const RunContext&) {
    return running_.IsOpen() ? FaultyRun(DeviceErrorClass::kSticky, true) : RunOutcome();
  };
  Start({lost_later, lost_later});
  clock_.Advance(kInterval);
  EXPECT_EQ(Begun(1).size(), 1u);
  EXPECT_EQ(BegunSoon().size(), 1u);

  running_.Open();
  clock_.Advance(kInterval);

  // The regular device is lost with its second canary, and that of the other, which is due for long, follows.
  EXPECT_EQ(Begun(3).size(), 3u);
  EXPECT_TRUE(down_.Wait());
}

}  // namespace
}  // namespace proofmill::engine
