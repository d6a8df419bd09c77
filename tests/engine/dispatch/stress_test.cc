// Many threads against one engine: whatever they do to each other, every request that was taken is answered
// once, and nothing is left behind.

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/dispatch/engine.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

RunOutcome Refused(absl::Status status) {
  RunOutcome outcome;
  outcome.status = std::move(status);
  return outcome;
}

// A device that takes a moment, looks at the token meanwhile, and fails now and then.
FakeRunner::Behaviour Moody(uint64_t seed, int faults_per_100) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [=](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext& context) {
    const auto end = steady_clock::now() + microseconds((*random)() % 200);
    while (steady_clock::now() < end) {
      absl::Status wanted = context.cancel.Check();
      if (!wanted.ok()) return Refused(std::move(wanted));
      std::this_thread::yield();
    }
    const auto dice = static_cast<int>((*random)() % 100);
    if (dice < faults_per_100) return FaultyRun(DeviceErrorClass::kLaunch);
    context.stages.OnStage("msm_a", microseconds(1));
    return EchoRun(witness);
  };
}

class StressTest : public testing::Test {
 protected:
  StressTest() { folder_.AddKey("mul3", "mul3"); }

  void Start(EngineOptions options, int faults_per_100 = 0) {
    std::vector<std::unique_ptr<JobRunner>> runners;
    for (uint64_t i = 0; i < 3; ++i) {
      runners.push_back(std::make_unique<FakeRunner>("fake:" + std::to_string(i), Moody(i, faults_per_100)));
    }
    StartOn(std::move(runners), std::move(options));
  }
  void StartOn(std::vector<std::unique_ptr<JobRunner>> runners, EngineOptions options) {
    options.circuits.directory = folder_.path();
    options.device_faults_max = 1'000'000;
    auto engine = Engine::Start(std::move(options), std::move(runners), observer_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    ASSERT_TRUE(engine_->circuits().WaitUntilSettled(steady_clock::now() + kPatience));
  }
  static ProveRequest Request(const Witness& witness) {
    ProveRequest request;
    request.circuit = "mul3";
    Witness copy{SecretBuffer<kernels::U256>(witness.values.size())};
    for (size_t i = 0; i < witness.values.size(); ++i) copy.values[i] = witness.values[i];
    request.witness = std::move(copy);
    return request;
  }
  // After everybody has been answered.
  void ExpectNothingLeft() {
    engine_->Shutdown(steady_clock::now() + kPatience);
    EXPECT_EQ(engine_->stats().reserved.jobs, 0u);
    EXPECT_EQ(engine_->stats().reserved.witness_bytes, 0u);
    EXPECT_EQ(engine_->stats().running, 0u);
    const CountingObserver::Totals totals = observer_.totals();
    EXPECT_EQ(totals.depth, (std::array<int, kPriorityCount>{}));
    EXPECT_EQ(totals.witness_bytes, 0);
    EXPECT_EQ(totals.started, totals.finished);
  }

  CircuitFolder folder_;
  CountingObserver observer_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(StressTest, AThousandJobsAcceptedAreAThousandAnswered) {
  Start({.jobs_max = 32});
  const Witness witness = CaseWitness("mul3");
  std::atomic<int> accepted{0}, refused{0}, answered{0}, good{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&] {
      for (int i = 0; i < 250; ++i) {
        // Like a client that comes back after QUEUE_FULL.
        while (true) {
          const absl::Status status = engine_
                                          ->Submit(Request(witness),
                                                   [&](const absl::StatusOr<ProveResult>& result) {
                                                     if (result.ok()) ++good;
                                                     ++answered;
                                                   })
                                          .status();
          if (status.ok()) break;
          EXPECT_EQ(GetReason(status), ErrorReason::kQueueFull);
          ++refused;
          std::this_thread::yield();
        }
        ++accepted;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  engine_->Shutdown(steady_clock::now() + kPatience);

  EXPECT_EQ(accepted, 1000);
  EXPECT_EQ(answered, 1000);
  EXPECT_EQ(good, 1000);
  EXPECT_EQ(observer_.totals().dropped["queue_full"], refused);
  ExpectNothingLeft();
}

TEST_F(StressTest, CancelsDeadlinesFaultsAndRepeatsLeaveExactlyOneAnswerEach) {
  Start({.jobs_max = 64}, /*faults_per_100=*/10);
  const Witness witness = CaseWitness("mul3");
  std::vector<std::thread> clients;
  std::vector<std::vector<Reply>> replies(4);
  for (uint64_t t = 0; t < 4; ++t) {
    clients.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::vector<std::shared_ptr<Ticket>> tickets;
      for (int i = 0; i < 250; ++i) {
        ProveRequest request = Request(witness);
        request.priority = static_cast<Priority>(random() % 3);
        if (random() % 2 == 0) request.deadline = steady_clock::now() + microseconds(random() % 3000);
        if (random() % 3 == 0) request.request_id = "id " + std::to_string(random() % 20);
        Reply reply;
        auto ticket = engine_->Submit(std::move(request), reply.done(), reply.progress());
        if (!ticket.ok()) continue;
        replies[t].push_back(reply);
        tickets.push_back(*std::move(ticket));
        if (random() % 3 == 0) tickets[random() % tickets.size()]->Cancel();
        if (random() % 5 == 0) tickets.erase(tickets.begin());  // a client that has gone
        if (!tickets.empty() && random() % 7 == 0) tickets.back()->progress();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (const auto& of_client : replies) {
    for (const Reply& reply : of_client)
      EXPECT_TRUE(reply.Wait().ok() || !reply.Wait().status().message().empty());
  }
  ExpectNothingLeft();

  for (const auto& of_client : replies) {
    for (const Reply& reply : of_client) reply.ExpectAnsweredOnce();
  }
}

TEST_F(StressTest, ShuttingDownUnderLoadAnswersEverybody) {
  for (int round = 0; round < 10; ++round) {
    Start({.jobs_max = 64});
    const Witness witness = CaseWitness("mul3");
    std::atomic<int> accepted{0}, answered{0};
    std::vector<std::thread> clients;
    for (int t = 0; t < 3; ++t) {
      clients.emplace_back([&] {
        while (true) {
          auto ticket =
              engine_->Submit(Request(witness), [&](const absl::StatusOr<ProveResult>&) { ++answered; });
          if (ticket.ok()) {
            ++accepted;
            if (accepted % 5 == 0) (*ticket)->Cancel();
          } else if (GetReason(ticket.status()) == ErrorReason::kDraining) {
            return;
          }
        }
      });
    }
    while (accepted < 20) std::this_thread::yield();

    engine_->Shutdown(steady_clock::now() + milliseconds(round % 2 == 0 ? 0 : 5));

    for (std::thread& client : clients) client.join();
    EXPECT_EQ(accepted, answered) << "no callback comes after Shutdown(), and none is missing";
    ExpectNothingLeft();
  }
}

TEST_F(StressTest, TicketsOutliveTheEngine) {
  Start({});
  const Witness witness = CaseWitness("mul3");
  std::vector<std::shared_ptr<Ticket>> tickets;
  std::vector<Reply> replies(50);
  for (const Reply& reply : replies) {
    auto ticket = engine_->Submit(Request(witness), reply.done(), reply.progress());
    ASSERT_TRUE(ticket.ok());
    tickets.push_back(*std::move(ticket));
  }
  std::thread canceller([&] {
    for (const auto& ticket : tickets) ticket->Cancel();
  });
  engine_.reset();
  canceller.join();
  for (const auto& ticket : tickets) {
    ticket->Cancel();
    EXPECT_EQ(ticket->progress().state, JobState::kDone);
  }
  for (const Reply& reply : replies) reply.ExpectAnsweredOnce();
}

TEST_F(StressTest, ADeviceGetsNoMoreJobsOfACircuitThanItGainsFrom) {
  std::atomic<int> at_a_time{0};
  std::atomic<int> most{0};
  const auto busy = [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    const int now = ++at_a_time;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(milliseconds(2));
    --at_a_time;
    return EchoRun(witness);
  };
  auto runner = std::make_unique<FakeRunner>("fake:0", busy, /*jobs_in_flight=*/6);
  runner->LimitJobsOfACircuit(2);
  std::vector<std::unique_ptr<JobRunner>> runners;
  runners.push_back(std::move(runner));
  StartOn(std::move(runners), {});

  std::vector<Reply> replies(30);
  const Witness witness = CaseWitness("mul3");
  for (const Reply& reply : replies) {
    ASSERT_TRUE(engine_->Submit(Request(witness), reply.done(), reply.progress()).ok());
  }
  for (const Reply& reply : replies) EXPECT_TRUE(reply.Wait().ok());
  EXPECT_EQ(most, 2);
}

}  // namespace
}  // namespace proofmill::engine
