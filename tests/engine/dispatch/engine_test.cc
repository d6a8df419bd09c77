#include "engine/dispatch/engine.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/base/mutex.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kMul3Bytes = 7 * 32;

// An engine over fake devices, in virtual time; the circuit mul3 is ready.
class EngineTest : public testing::Test {
 protected:
  EngineTest() { folder_.AddKey("mul3", "mul3"); }
  ~EngineTest() override {
    go_on_.Open();
    engine_.reset();
  }

  // Tests change `options_` before.
  void Start(std::vector<FakeRunner::Behaviour> devices = {nullptr}, size_t jobs_in_flight = 1) {
    std::vector<std::unique_ptr<JobRunner>> runners;
    for (size_t i = 0; i < devices.size(); ++i) {
      auto runner = std::make_unique<FakeRunner>("fake:" + std::to_string(i), devices[i], jobs_in_flight);
      runners_.push_back(runner.get());
      runners.push_back(std::move(runner));
    }
    options_.circuits.directory = folder_.path();
    auto engine = Engine::Start(options_, std::move(runners), observer_, clock_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    ASSERT_TRUE(engine_->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));
  }
  // A device that holds every job until `go_on_` opens.
  FakeRunner::Behaviour Held() {
    return [this](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
      running_.Open();
      EXPECT_TRUE(go_on_.Wait());
      return EchoRun(witness);
    };
  }
  static ProveRequest Request() {
    ProveRequest request;
    request.circuit = "mul3";
    request.witness = CaseWitness("mul3");
    return request;
  }
  absl::Status Submit(const Reply& reply, ProveRequest request = Request()) {
    return engine_->Submit(std::move(request), reply.done(), reply.progress()).status();
  }
  absl::StatusOr<Reservation> Reserve(uint64_t bytes, bool with_job_slot = true) {
    ReserveRequest request;
    request.circuit = "mul3";
    request.witness_bytes = bytes;
    request.with_job_slot = with_job_slot;
    return engine_->Reserve(request);
  }
  // Occupies the device, so that whatever comes next waits.
  void Occupy(const Reply& reply) {
    ASSERT_TRUE(Submit(reply).ok());
    ASSERT_TRUE(running_.Wait());
  }

  Latch running_, go_on_, settled_;  // before the engine, which may use them to its end
  FakeClock clock_;
  CircuitFolder folder_;
  CountingObserver observer_;
  EngineOptions options_;
  std::vector<FakeRunner*> runners_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, TakesARequestAndAnswersIt) {
  Start();
  const Reply reply;
  ASSERT_TRUE(Submit(reply).ok());

  const auto result = reply.Wait();

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->circuit, "mul3");
  EXPECT_EQ(result->version, engine_->circuits().Find("mul3")->version);
  EXPECT_EQ(Groth16Of(*result).public_signals.size(), 1u);
  EXPECT_TRUE(engine_->WaitUntilIdle(clock_.Now() + hours(1)));
  EXPECT_EQ(engine_->stats().reserved.witness_bytes, 0u);
  EXPECT_EQ(observer_.totals().witness_bytes, 0);
}

TEST_F(EngineTest, ADeviceRunsAsManyJobsAtATimeAsItSaysAndNoMore) {
  Mutex mu;
  int at_work = 0;
  int most = 0;
  Latch both;
  Start({[&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
          {
            MutexLock lock(mu);
            most = std::max(most, ++at_work);
            if (at_work == 2) both.Open();
          }
          EXPECT_TRUE(both.Wait()) << "the other job never came";
          MutexLock lock(mu);
          --at_work;
          return EchoRun(witness);
        }},
        2);
  const Reply replies[6];
  for (const Reply& reply : replies) ASSERT_TRUE(Submit(reply).ok());

  for (const Reply& reply : replies) EXPECT_TRUE(reply.Wait().ok());

  engine_->Shutdown(clock_.Now());
  EXPECT_EQ(most, 2);
  EXPECT_EQ(engine_->stats().devices, 1u);
}

TEST_F(EngineTest, IsReadyOnceItsCircuitsAreSettled) {
  Start();
  // The listener hears of it right after the wait ends.
  engine_->health().AddListener([&](const HealthStatus& status) {
    if (status.ready) settled_.Open();
  });
  EXPECT_TRUE(settled_.Wait());
  EXPECT_TRUE(engine_->health().status().started);
  EXPECT_EQ(engine_->stats().devices_up, 1u);
  EXPECT_EQ(runners_[0]->installed(), 1);
  engine_->BeginDrain();
  EXPECT_FALSE(engine_->health().status().ready);
}

TEST_F(EngineTest, RefusesWhatIsWrongWithTheRequestBeforeItIsQueued) {
  Start();
  const auto reason = [&](auto change) {
    ProveRequest request = Request();
    change(request);
    const Reply reply;
    const absl::Status status = Submit(reply, std::move(request));
    EXPECT_FALSE(reply.answered());
    return GetReason(status);
  };

  EXPECT_EQ(reason([](ProveRequest& r) { r.circuit = "unknown"; }), ErrorReason::kCircuitUnknown);
  EXPECT_EQ(reason([](ProveRequest& r) { r.circuit = "../mul3"; }), ErrorReason::kCircuitUnknown);
  EXPECT_EQ(reason([](ProveRequest& r) { r.version = std::string(128, 'a'); }),
            ErrorReason::kVersionMismatch);
  EXPECT_EQ(reason([](ProveRequest& r) { r.witness = FakeWitness(1, 6); }), ErrorReason::kWitnessLength);
  EXPECT_EQ(reason([](ProveRequest& r) { r.witness = Witness(); }), ErrorReason::kWitnessLength);
  EXPECT_EQ(reason([](ProveRequest& r) { ValueOf(r, 3) = kernels::FrParams::kModulus; }),
            ErrorReason::kWitnessNotCanonical);
  EXPECT_EQ(reason([](ProveRequest& r) { ValueOf(r, 0).limb[0] = 2; }), ErrorReason::kWitnessMalformed);
  EXPECT_EQ(reason([](ProveRequest& r) { r.request_id = std::string(129, 'x'); }),
            ErrorReason::kRequestInvalid);
  EXPECT_EQ(reason([&](ProveRequest& r) { r.deadline = clock_.Now(); }), ErrorReason::kDeadlineExpired);
  EXPECT_EQ(engine_->stats().reserved.witness_bytes, 0u);
}

TEST_F(EngineTest, TheJobThatTheQueueHasNoPlaceForIsRefusedWithAdviceWhenToRetry) {
  options_.jobs_max = 2;
  Start({Held()});
  const Reply busy, first, second, third;
  Occupy(busy);
  ASSERT_TRUE(Submit(first).ok());
  ASSERT_TRUE(Submit(second).ok());

  const absl::Status full = Submit(third);

  EXPECT_TRUE(absl::IsResourceExhausted(full));
  EXPECT_EQ(GetReason(full), ErrorReason::kQueueFull);
  EXPECT_GE(GetRetryDelay(full), milliseconds(750)) << "1 s where nothing is known, give or take a quarter";
  EXPECT_LE(GetRetryDelay(full), milliseconds(1250));
  EXPECT_EQ(observer_.totals().dropped, (std::map<std::string, int>{{"queue_full", 1}}));
  go_on_.Open();
  EXPECT_TRUE(second.Wait().ok());
  EXPECT_FALSE(third.answered());
}

TEST_F(EngineTest, TheAdviceFollowsTheLengthOfTheQueueAndTheTimeOfAProof) {
  options_.jobs_max = 3;
  // Owned by the device: jobs still wait for it when this test ends.
  Start({[this, learning = true](const Circuit& circuit, absl::Span<const kernels::U256> witness,
                                 const RunContext& context) mutable {
    if (!std::exchange(learning, false)) return Held()(circuit, witness, context);
    clock_.Advance(seconds(4));
    return EchoRun(witness);
  }});
  const Reply learned, busy;
  ASSERT_TRUE(Submit(learned).ok());
  ASSERT_TRUE(learned.Wait().ok());
  Occupy(busy);
  std::vector<Reply> waiting(3);
  for (const Reply& reply : waiting) ASSERT_TRUE(Submit(reply).ok());

  const auto delay = GetRetryDelay(Submit(Reply()));

  EXPECT_GE(delay, milliseconds(12'000)) << "4 proofs of 4 s, less a quarter";
  EXPECT_LE(delay, milliseconds(20'000));
  EXPECT_EQ(engine_->EstimatedWait(Priority::kNormal), seconds(16));
  go_on_.Open();
}

TEST_F(EngineTest, WitnessBytesAreBoundedFromTheReservationOn) {
  options_.witness_bytes_max = 2 * kMul3Bytes;
  Start({Held()});
  auto upload = Reserve(kMul3Bytes);
  ASSERT_TRUE(upload.ok());
  const Reply busy, refused;
  Occupy(busy);

  EXPECT_EQ(GetReason(Submit(refused)), ErrorReason::kQueueFull) << "one uploads, one runs";
  EXPECT_EQ(GetReason(Reserve(1).status()), ErrorReason::kQueueFull);
  EXPECT_EQ(GetReason(Reserve(3 * kMul3Bytes).status()), ErrorReason::kMessageTooLarge);

  ProveRequest request = Request();
  request.reservation = *std::move(upload);
  const Reply uploaded;
  EXPECT_TRUE(Submit(uploaded, std::move(request)).ok()) << "its room was kept";
  EXPECT_EQ(engine_->stats().reserved.witness_bytes, 2 * kMul3Bytes);
  EXPECT_EQ(observer_.totals().witness_bytes, static_cast<int64_t>(2 * kMul3Bytes));
  go_on_.Open();
  EXPECT_TRUE(uploaded.Wait().ok());
}

TEST_F(EngineTest, AReservationThatIsTooSmallForItsWitnessIsReplaced) {
  options_.witness_bytes_max = kMul3Bytes + 10;
  Start({Held()});
  ProveRequest request = Request();
  request.reservation = *Reserve(1);
  const Reply reply;
  ASSERT_TRUE(Submit(reply, std::move(request)).ok());
  ASSERT_TRUE(running_.Wait());

  EXPECT_EQ(engine_->stats().reserved.witness_bytes, kMul3Bytes);
  go_on_.Open();
}

TEST_F(EngineTest, ReserveRefusesWhatSubmitWould) {
  folder_.Write("bad.zkey", Bytes(12, 1));
  Start();
  const auto reason = [&](auto change) {
    ReserveRequest request;
    request.circuit = "mul3";
    change(request);
    return GetReason(engine_->Reserve(request).status());
  };

  EXPECT_EQ(reason([](ReserveRequest& r) { r.circuit = "unknown"; }), ErrorReason::kCircuitUnknown);
  EXPECT_EQ(reason([](ReserveRequest& r) { r.circuit = "bad"; }), ErrorReason::kCircuitFailed);
  EXPECT_EQ(reason([](ReserveRequest& r) { r.version = "0"; }), ErrorReason::kVersionMismatch);
  EXPECT_EQ(reason([&](ReserveRequest& r) { r.deadline = clock_.Now(); }), ErrorReason::kDeadlineExpired);
  engine_->BeginDrain();
  EXPECT_EQ(reason([](ReserveRequest&) {}), ErrorReason::kDraining);
}

TEST_F(EngineTest, ADeadlineShorterThanTheWaitIsRefusedAtOnceWithTheEstimate) {
  bool learning = true;
  Start({[&](const Circuit& circuit, absl::Span<const kernels::U256> witness, const RunContext& context) {
    if (!std::exchange(learning, false)) return Held()(circuit, witness, context);
    clock_.Advance(seconds(4));
    return EchoRun(witness);
  }});
  const Reply first, busy, hopeless, hopeful;
  EXPECT_EQ(engine_->EstimatedWait(Priority::kNormal), std::nullopt) << "nothing is known yet";
  ASSERT_TRUE(Submit(first).ok());
  ASSERT_TRUE(first.Wait().ok());
  Occupy(busy);

  ProveRequest request = Request();
  request.deadline = clock_.Now() + milliseconds(5999);
  const absl::Status refused = Submit(hopeless, std::move(request));
  EXPECT_TRUE(absl::IsDeadlineExceeded(refused));
  EXPECT_EQ(GetReason(refused), ErrorReason::kDeadlineUnreachable);
  EXPECT_NE(refused.message().find("4000 ms"), std::string::npos) << refused;
  EXPECT_EQ(GetRetryDelay(refused), milliseconds(4000));
  EXPECT_FALSE(hopeless.answered());

  request = Request();
  request.deadline = clock_.Now() + milliseconds(6000);
  EXPECT_TRUE(Submit(hopeful, std::move(request)).ok());
  go_on_.Open();
  EXPECT_TRUE(hopeful.Wait().ok());
}

TEST_F(EngineTest, OnAnIdleDeviceEveryDeadlineMayTry) {
  Start({[&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    clock_.Advance(seconds(4));
    return EchoRun(witness);
  }});
  const Reply first, second;
  ASSERT_TRUE(Submit(first).ok());
  ASSERT_TRUE(first.Wait().ok());
  ASSERT_TRUE(engine_->WaitUntilIdle(clock_.Now() + hours(1)));

  ProveRequest request = Request();
  request.deadline = clock_.Now() + seconds(1);

  EXPECT_TRUE(Submit(second, std::move(request)).ok());
}

TEST_F(EngineTest, ARequestWithoutADeadlineGetsTheDefaultAndALongOneIsCut) {
  options_.default_deadline = seconds(10);
  options_.maximum_deadline = seconds(20);
  Start({Held()});
  const Reply busy, with_default, cut;
  ProveRequest long_one = Request();
  long_one.deadline = clock_.Now() + hours(100);
  Occupy(busy);
  ASSERT_TRUE(Submit(with_default).ok());
  ASSERT_TRUE(Submit(cut, std::move(long_one)).ok());

  clock_.Advance(seconds(10));
  EXPECT_TRUE(absl::IsDeadlineExceeded(with_default.Wait().status()));
  EXPECT_FALSE(cut.answered());
  clock_.Advance(seconds(10));
  EXPECT_TRUE(absl::IsDeadlineExceeded(cut.Wait().status()));
}

TEST_F(EngineTest, TheSameRequestIdTwiceIsOneProof) {
  Start({Held()});
  std::vector<Reply> replies(5);
  for (const Reply& reply : replies) {
    ProveRequest request = Request();
    request.request_id = "id";
    ASSERT_TRUE(Submit(reply, std::move(request)).ok());
  }
  ProveRequest other = Request();
  other.request_id = "id";
  ValueOf(other, 6).limb[0] ^= 1;
  EXPECT_EQ(GetReason(Submit(Reply(), std::move(other))), ErrorReason::kRequestIdConflict);
  ProveRequest other_tenant = Request();
  other_tenant.request_id = "id";
  other_tenant.tenant = "other";
  const Reply own;
  EXPECT_TRUE(Submit(own, std::move(other_tenant)).ok());
  EXPECT_EQ(engine_->stats().reserved.witness_bytes, 2 * kMul3Bytes) << "one witness each is kept";

  go_on_.Open();
  for (const Reply& reply : replies) EXPECT_TRUE(reply.Wait().ok());
  EXPECT_TRUE(own.Wait().ok());
  EXPECT_EQ(observer_.totals().started, 2);
}

TEST_F(EngineTest, DrainingRefusesNewWorkAndFinishesWhatWasTaken) {
  Start({Held()});
  const Reply running, queued, uploaded;
  Occupy(running);
  ASSERT_TRUE(Submit(queued).ok());
  auto upload = Reserve(kMul3Bytes);
  ASSERT_TRUE(upload.ok());

  engine_->BeginDrain();

  const absl::Status refused = Submit(Reply());
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(GetReason(refused), ErrorReason::kDraining);
  EXPECT_FALSE(engine_->WaitUntilIdle(clock_.Now()));
  ProveRequest request = Request();
  request.reservation = *std::move(upload);
  EXPECT_TRUE(Submit(uploaded, std::move(request)).ok()) << "what was admitted may come in";
  go_on_.Open();
  EXPECT_TRUE(running.Wait().ok());
  EXPECT_TRUE(queued.Wait().ok());
  EXPECT_TRUE(uploaded.Wait().ok());
  EXPECT_TRUE(engine_->WaitUntilIdle(clock_.Now() + hours(1)));
}

TEST_F(EngineTest, ShutdownAnswersWhatIsLeftWhenTheTimeIsOver) {
  Start({[&](const Circuit&, absl::Span<const kernels::U256>, const RunContext& context) {
    running_.Open();
    return RunUntilCancelled(context);
  }});
  const Reply running, queued;
  Occupy(running);
  ASSERT_TRUE(Submit(queued).ok());

  engine_->Shutdown(clock_.Now());

  EXPECT_EQ(GetReason(running.Wait().status()), ErrorReason::kDraining);
  EXPECT_EQ(GetReason(queued.Wait().status()), ErrorReason::kDraining);
  EXPECT_EQ(GetReason(Submit(Reply())), ErrorReason::kDraining);
  engine_->Shutdown(clock_.Now());
  running.ExpectAnsweredOnce();
  queued.ExpectAnsweredOnce();
}

TEST_F(EngineTest, AfterShutdownNotEvenAKnownResultIsPromised) {
  Start();
  const Reply first, second;
  ProveRequest request = Request(), repeated = Request();
  request.request_id = repeated.request_id = "id";
  ASSERT_TRUE(Submit(first, std::move(request)).ok());
  ASSERT_TRUE(first.Wait().ok());

  engine_->Shutdown(clock_.Now() + hours(1));

  EXPECT_EQ(GetReason(Submit(second, std::move(repeated))), ErrorReason::kDraining);
  EXPECT_FALSE(second.answered());
}

TEST_F(EngineTest, ShutdownGivesTakenWorkTheTimeItIsGiven) {
  Start({Held()});
  const Reply running, queued;
  Occupy(running);
  ASSERT_TRUE(Submit(queued).ok());
  std::thread stopper([&] { engine_->Shutdown(clock_.Now() + hours(1)); });
  go_on_.Open();
  stopper.join();

  EXPECT_TRUE(running.Wait().ok());
  EXPECT_TRUE(queued.Wait().ok());
}

TEST_F(EngineTest, WithoutADeviceEverythingIsRefused) {
  options_.device_faults_max = 1;
  Start({[](const Circuit&, absl::Span<const kernels::U256>, const RunContext&) {
    return FaultyRun(DeviceErrorClass::kSticky, true);
  }});
  const Reply reply;
  ASSERT_TRUE(Submit(reply).ok());
  EXPECT_TRUE(absl::IsInternal(reply.Wait().status()));
  engine_->health().AddListener([&](const HealthStatus& status) {
    if (!status.live) settled_.Open();
  });
  ASSERT_TRUE(settled_.Wait());

  EXPECT_EQ(GetReason(Submit(Reply())), ErrorReason::kNoDevice);
  EXPECT_EQ(GetReason(Reserve(1).status()), ErrorReason::kNoDevice);
  EXPECT_EQ(engine_->stats().devices_up, 0u);
  EXPECT_EQ(engine_->stats().reserved.jobs, 0u);
}

TEST_F(EngineTest, ACircuitIsInstalledOnEveryDeviceOrOnNone) {
  auto good = std::make_unique<FakeRunner>("fake:0");
  auto small = std::make_unique<FakeRunner>("fake:1");
  FakeRunner* const good_device = good.get();
  small->FailInstallsWith(absl::ResourceExhaustedError("the key needs 9 GB, 8 GB are free"));
  std::vector<std::unique_ptr<JobRunner>> runners;
  runners.push_back(std::move(good));
  runners.push_back(std::move(small));
  options_.circuits.directory = folder_.path();
  engine_ = *Engine::Start(options_, std::move(runners), observer_, clock_);
  ASSERT_TRUE(engine_->circuits().WaitUntilSettled(std::chrono::steady_clock::now() + kPatience));

  const CircuitPtr circuit = engine_->circuits().Find("mul3");
  EXPECT_EQ(circuit->state, CircuitState::kFailed);
  EXPECT_EQ(std::string(circuit->failure.message()), "device fake:1: the key needs 9 GB, 8 GB are free");
  EXPECT_EQ(good_device->installed(), 0) << "what was done is undone";
}

TEST_F(EngineTest, OptionsThatMakeNoSenseAreRefused) {
  const auto start = [&](auto change, bool with_device = true) {
    EngineOptions options;
    options.circuits.directory = folder_.path();
    change(options);
    std::vector<std::unique_ptr<JobRunner>> runners;
    if (with_device) runners.push_back(std::make_unique<FakeRunner>());
    return Engine::Start(options, std::move(runners), observer_, clock_).status().code();
  };

  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(start([](EngineOptions&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(start([](EngineOptions&) {}, false), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.jobs_max = 0; }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.witness_bytes_max = 0; }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.default_deadline = milliseconds(0); }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.maximum_deadline = milliseconds(1); }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.priority_aging = milliseconds(-1); }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.request_id_ttl = milliseconds(0); }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.device_faults_max = 0; }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.circuits.loads_max = 0; }), kInvalid);
  EXPECT_EQ(start([](EngineOptions& o) { o.circuits.directory += "/missing"; }), absl::StatusCode::kNotFound);
}

TEST_F(EngineTest, AnEngineWithoutCircuitsStartsAndIsNotReady) {
  CircuitFolder empty;
  options_.circuits.directory = empty.path();
  std::vector<std::unique_ptr<JobRunner>> runners;
  runners.push_back(std::make_unique<FakeRunner>());
  engine_ = *Engine::Start(options_, std::move(runners), observer_, clock_);

  EXPECT_TRUE(engine_->health().status().started);
  EXPECT_FALSE(engine_->health().status().ready);
}

}  // namespace
}  // namespace proofmill::engine
