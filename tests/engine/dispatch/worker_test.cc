#include "engine/dispatch/worker.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using RunFunction = FakeRunner::Behaviour;

// Two devices; tests run their jobs one by one on the test's own thread, in virtual time.
class WorkerTest : public testing::Test {
 protected:
  WorkerTest()
      : dispatcher_(std::make_shared<Dispatcher>(
            Dispatcher::Options{
                .queue = {.workers = 2, .aging = seconds(10)},
                .request_ids = {.ttl = seconds(60), .results_max = 100, .result_bytes_max = 1 << 20},
                .places_interval = milliseconds(250)},
            observer_, clock_)) {
    health_.SetCircuits({.loading = 0, .ready = 1, .failed = 0, .changes = 1});
  }
  ~WorkerTest() override {
    dispatcher_->queue().Close();
    dispatcher_->AbandonAll();
    Answer();
    for (const auto& worker : workers_) {
      if (worker != nullptr) worker->Join();
    }
    dispatcher_->Stop();
  }

  Worker& Make(size_t index, RunFunction run, std::optional<Clock::duration> stage_max = std::nullopt) {
    const std::string name = "fake:" + std::to_string(index);
    workers_[index] = std::make_unique<Worker>(
        Worker::Options{
            .index = index, .faults_max = 3, .thread_name = name, .threads = 1, .stage_max = stage_max},
        std::make_unique<FakeRunner>(name, std::move(run)),
        Worker::Context{*dispatcher_, health_, observer_, clock_});
    health_.SetDevice(name, true, "");
    return *workers_[index];
  }
  absl::StatusOr<std::shared_ptr<Ticket>> TrySubmit(const Reply& reply, uint64_t second = 0) {
    auto job = FakeJob(clock_.Now(), {.second = second, .reservation = *admission_.Reserve(64, true)});
    return dispatcher_->Submit(std::move(job), std::nullopt, clock_.Now() + seconds(100),
                               {reply.done(), reply.progress()}, [](Job&) { return absl::OkStatus(); });
  }
  std::shared_ptr<Ticket> Submit(const Reply& reply, uint64_t second = 0) {
    auto ticket = TrySubmit(reply, second);
    EXPECT_TRUE(ticket.ok());
    return *ticket;
  }
  void Answer() {
    while (dispatcher_->AnswerPosted()) {
    }
  }

  Latch running_, go_on_;  // before the workers, which may use them to their end
  FakeClock clock_;
  CountingObserver observer_;
  Health health_;
  Admission admission_{{.jobs_max = 100, .witness_bytes_max = 1 << 20}};
  std::shared_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<Worker> workers_[2];
};

RunFunction Echo() {
  return [](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    return EchoRun(witness);
  };
}
RunFunction Faulty(DeviceErrorClass error_class, bool lost = false) {
  return [=](const Circuit&, absl::Span<const kernels::U256>, const RunContext&) {
    return FaultyRun(error_class, lost);
  };
}

TEST_F(WorkerTest, AProofCarriesAllThatBelongsToIt) {
  Worker& worker =
      Make(0, [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext& context) {
        clock_.Advance(milliseconds(700));
        context.stages.OnStage("msm_a", milliseconds(500));
        context.stages.OnStage("finish", milliseconds(200));
        return EchoRun(witness);
      });
  const Reply reply;
  Submit(reply, 42);
  clock_.Advance(milliseconds(300));

  ASSERT_TRUE(worker.RunOne());

  const auto result = reply.Wait();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Groth16Of(*result).public_signals, std::vector<kernels::Fr>{kernels::Fr::FromUint64(42)});
  EXPECT_EQ(result->circuit, "fake");
  EXPECT_EQ(result->version, "version of fake");
  EXPECT_EQ(result->device, "fake:0");
  EXPECT_EQ(result->queue_wait, milliseconds(300));
  EXPECT_EQ(result->run_time, milliseconds(700));
  ASSERT_EQ(result->stages.size(), 2u);
  EXPECT_EQ(result->stages[0].stage, "msm_a");
  EXPECT_EQ(result->stages[0].duration, milliseconds(500));
  EXPECT_EQ(dispatcher_->proof_times().Of("fake"), milliseconds(700));
  EXPECT_EQ(observer_.totals().stages, (std::map<std::string, int>{{"finish", 1}, {"msm_a", 1}}));
}

TEST_F(WorkerTest, TheWitnessIsGoneAndItsBytesAreFreeBeforeTheCallback) {
  Worker& worker = Make(0, Echo());
  uint64_t bytes_at_callback = 1;
  size_t jobs_while_running = 1;
  auto job = FakeJob(clock_.Now(), {.reservation = *admission_.Reserve(64, true)});
  ASSERT_TRUE(dispatcher_
                  ->Submit(job, std::nullopt, clock_.Now() + seconds(1),
                           {.done =
                                [&](const absl::StatusOr<ProveResult>&) {
                                  bytes_at_callback = admission_.usage().witness_bytes;
                                  EXPECT_EQ(InputBytes(job->witness()), 0u);
                                },
                            .progress =
                                [&](const Progress& progress) {
                                  if (progress.state == JobState::kRunning)
                                    jobs_while_running = admission_.usage().jobs;
                                }},
                           [](Job&) { return absl::OkStatus(); })
                  .ok());

  worker.RunOne();

  EXPECT_EQ(bytes_at_callback, 0u);
  EXPECT_EQ(jobs_while_running, 0u) << "a running job has left its place in the queue to the next";
}

TEST_F(WorkerTest, WantOfMemoryFailsTheJobAlone) {
  bool fail = true;
  Worker& worker = Make(0, [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    if (std::exchange(fail, false)) throw std::bad_alloc();
    return EchoRun(witness);
  });
  const Reply first, second;
  Submit(first);
  Submit(second);

  worker.RunOne();
  worker.RunOne();

  EXPECT_TRUE(absl::IsResourceExhausted(first.Wait().status()));
  EXPECT_EQ(GetReason(first.Wait().status()), ErrorReason::kOutOfMemory);
  EXPECT_TRUE(second.Wait().ok());
  EXPECT_TRUE(health_.status().ready) << "the device is not to blame";
  EXPECT_EQ(observer_.totals().errors, (std::map<std::string, int>{{"oom", 1}}));
}

TEST_F(WorkerTest, AnUnexpectedExceptionFailsTheJobAlone) {
  bool fail = true;
  Worker& worker = Make(0, [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    if (std::exchange(fail, false)) throw std::runtime_error("surprise");
    return EchoRun(witness);
  });
  const Reply first, second;
  Submit(first);
  Submit(second);

  worker.RunOne();
  worker.RunOne();

  EXPECT_EQ(GetReason(first.Wait().status()), ErrorReason::kInternal);
  EXPECT_TRUE(second.Wait().ok());
}

TEST_F(WorkerTest, ABadWitnessIsTheClientsErrorAndCostsTheDeviceNothing) {
  Worker& worker = Make(0, [](const Circuit&, absl::Span<const kernels::U256>, const RunContext&) {
    RunOutcome outcome;
    outcome.status = WithReason(absl::InvalidArgumentError("witness does not satisfy the circuit"),
                                ErrorReason::kWitnessUnsatisfied);
    outcome.verdict = BlameVerdict::kWitness;
    return outcome;
  });
  for (int i = 0; i < 10; ++i) {
    const Reply reply;
    Submit(reply);
    worker.RunOne();
    EXPECT_EQ(GetReason(reply.Wait().status()), ErrorReason::kWitnessUnsatisfied);
  }

  EXPECT_TRUE(health_.status().ready);
  EXPECT_EQ(observer_.totals().blamed, (std::map<std::string, int>{{"witness", 10}}));
  EXPECT_TRUE(observer_.totals().errors.empty());
  EXPECT_EQ(dispatcher_->proof_times().Average(), std::nullopt) << "nothing is learned from failures";
}

TEST_F(WorkerTest, AJobThatADeviceSpoiledRunsOnceElsewhere) {
  Worker& bad = Make(0, Faulty(DeviceErrorClass::kSelfCheck));
  Worker& good = Make(1, Echo());
  const Reply reply;
  Submit(reply, 7);

  ASSERT_TRUE(bad.RunOne());
  EXPECT_FALSE(reply.answered());
  EXPECT_FALSE(bad.RunOne()) << "it is not for this device any more";
  ASSERT_TRUE(good.RunOne());

  EXPECT_EQ(reply.Wait()->device, "fake:1");
  EXPECT_EQ(Groth16Of(*reply.Wait()).public_signals[0], kernels::Fr::FromUint64(7))
      << "the witness was kept for it";
  reply.ExpectAnsweredOnce();
  EXPECT_EQ(observer_.totals().errors, (std::map<std::string, int>{{"self_check", 1}}));
  EXPECT_EQ(observer_.totals().depth, (std::array<int, kPriorityCount>{}));
}

TEST_F(WorkerTest, AJobThatTwoDevicesSpoiledIsAnError) {
  Worker& first = Make(0, Faulty(DeviceErrorClass::kLaunch));
  Worker& second = Make(1, Faulty(DeviceErrorClass::kLaunch));
  const Reply reply;
  Submit(reply);

  first.RunOne();
  second.RunOne();

  EXPECT_TRUE(absl::IsInternal(reply.Wait().status()));
  EXPECT_EQ(dispatcher_->queue().size(), 0u);
  EXPECT_TRUE(health_.status().ready) << "one fault each is no reason to give up on them";
}

TEST_F(WorkerTest, WithoutAnotherDeviceTheFaultIsTheAnswer) {
  Worker& worker = Make(0, Faulty(DeviceErrorClass::kLaunch));
  dispatcher_->RemoveWorker(1);
  const Reply reply;
  Submit(reply);

  worker.RunOne();

  EXPECT_EQ(GetReason(reply.Wait().status()), ErrorReason::kDeviceFault);
}

TEST_F(WorkerTest, RepeatedFaultsTakeADeviceOutOfService) {
  Worker& worker = Make(0, Faulty(DeviceErrorClass::kSelfCheck));
  dispatcher_->RemoveWorker(1);
  std::vector<Reply> replies(4);
  for (const Reply& reply : replies) Submit(reply);

  EXPECT_TRUE(worker.RunOne());
  EXPECT_TRUE(worker.RunOne());
  EXPECT_TRUE(health_.status().ready);
  EXPECT_TRUE(worker.RunOne());
  EXPECT_FALSE(worker.RunOne());
  Answer();

  EXPECT_FALSE(health_.status().ready);
  EXPECT_FALSE(observer_.totals().device_up["fake:0"]);
  EXPECT_EQ(GetReason(replies[3].Wait().status()), ErrorReason::kNoDevice) << "what waited is told at once";
  for (const Reply& reply : replies) reply.ExpectAnsweredOnce();
}

TEST_F(WorkerTest, AGoodProofForgivesEarlierFaults) {
  int run = 0;
  Worker& worker = Make(0, [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    return ++run % 3 == 0 ? EchoRun(witness) : FaultyRun(DeviceErrorClass::kLaunch);
  });
  dispatcher_->RemoveWorker(1);
  for (int i = 0; i < 12; ++i) {
    Submit(Reply());
    EXPECT_TRUE(worker.RunOne());
  }
  EXPECT_TRUE(health_.status().ready);
}

TEST_F(WorkerTest, ALostDeviceTakesNothingMoreAndItsJobGoesElsewhere) {
  Worker& lost = Make(0, Faulty(DeviceErrorClass::kSticky, /*lost=*/true));
  Worker& good = Make(1, Echo());
  const Reply first, second;
  Submit(first);
  Submit(second);

  lost.RunOne();
  EXPECT_FALSE(lost.RunOne());
  EXPECT_TRUE(health_.status().ready) << "the other device can prove";
  good.RunOne();
  good.RunOne();

  EXPECT_TRUE(first.Wait().ok());
  EXPECT_TRUE(second.Wait().ok());
  EXPECT_EQ(observer_.totals().errors, (std::map<std::string, int>{{"sticky", 1}}));
}

TEST_F(WorkerTest, ACancelledJobStopsAtTheNextStageAndTheNextOneRuns) {
  bool first_run = true;
  Worker& worker =
      Make(0, [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext& context) {
        if (!std::exchange(first_run, false)) return EchoRun(witness);
        running_.Open();
        return RunUntilCancelled(context);
      });
  dispatcher_->Start();
  worker.Start();
  const Reply first, second;
  const auto ticket = Submit(first);
  Submit(second);
  ASSERT_TRUE(running_.Wait());

  ticket->Cancel();

  EXPECT_TRUE(absl::IsCancelled(first.Wait().status()));
  EXPECT_TRUE(second.Wait().ok()) << "the device is free again";
  first.ExpectAnsweredOnce();
}

TEST_F(WorkerTest, CancellingWhileBusyAnswersWithin100MillisecondsWhateverTheDeviceDoes) {
  Worker& worker = Make(0, [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext&) {
    running_.Open();
    EXPECT_TRUE(go_on_.Wait());  // one long stage that looks at nothing
    return EchoRun(witness);
  });
  dispatcher_->Start();
  worker.Start();
  std::vector<Reply> replies(8);
  std::vector<std::shared_ptr<Ticket>> tickets;
  tickets.reserve(replies.size());
  for (const Reply& reply : replies) tickets.push_back(Submit(reply));
  ASSERT_TRUE(running_.Wait());

  // The best of several, because the machine that runs this test may be busy with others.
  auto best = std::chrono::steady_clock::duration::max();
  for (size_t i = 0; i < tickets.size(); ++i) {
    const auto start = std::chrono::steady_clock::now();
    tickets[i]->Cancel();
    EXPECT_TRUE(absl::IsCancelled(replies[i].Wait().status()));
    best = std::min(best, std::chrono::steady_clock::now() - start);
  }

  EXPECT_LT(best, milliseconds(100));
  go_on_.Open();
}

TEST_F(WorkerTest, ADeviceThatHangsIsTakenOutOfService) {
  constexpr seconds kStageMax{200};  // longer than Submit() lets a job take
  Worker& worker = Make(
      0,
      [&](const Circuit&, absl::Span<const kernels::U256> witness, const RunContext& context) {
        clock_.Advance(kStageMax - seconds(1));  // long, but it goes on
        context.stages.OnStage("msm_a", kStageMax - seconds(1));
        running_.Open();
        EXPECT_TRUE(go_on_.Wait());  // and now it does not
        return EchoRun(witness);
      },
      kStageMax);
  dispatcher_->RemoveWorker(1);
  dispatcher_->Start();
  const Reply stuck;
  Submit(stuck);
  worker.Start();
  ASSERT_TRUE(running_.Wait());
  EXPECT_TRUE(absl::IsDeadlineExceeded(stuck.Wait().status())) << "whoever waited was answered in time";
  const Reply waiting;
  Submit(waiting);
  Latch down;
  health_.AddListener([&](const HealthStatus& status) {
    if (!status.ready) down.Open();
  });
  EXPECT_FALSE(down.IsOpen());

  clock_.Advance(seconds(2));
  EXPECT_FALSE(down.Wait(milliseconds(20))) << "a stage counts from the end of the one before";
  clock_.Advance(kStageMax);

  EXPECT_TRUE(down.Wait());
  EXPECT_FALSE(health_.status().live) << "only a new process can help";
  EXPECT_THAT(*worker.out_of_service(), testing::HasSubstr("no stage of a proof has ended for 200 s"));
  EXPECT_FALSE(waiting.Wait().ok());
  EXPECT_EQ(GetReason(TrySubmit(Reply()).status()), ErrorReason::kNoDevice);
  EXPECT_EQ(observer_.totals().errors, (std::map<std::string, int>{{"timeout", 1}}));
  EXPECT_FALSE(observer_.totals().device_up["fake:0"]);
  go_on_.Open();
}

TEST_F(WorkerTest, ObserversSeePairsOfStartAndFinish) {
  Worker& worker = Make(0, Echo());
  for (int i = 0; i < 5; ++i) Submit(Reply());
  EXPECT_EQ(observer_.totals().depth[static_cast<size_t>(Priority::kNormal)], 5);
  while (worker.RunOne()) {
  }

  EXPECT_EQ(observer_.totals().started, 5);
  EXPECT_EQ(observer_.totals().finished, 5);
  EXPECT_EQ(observer_.totals().depth, (std::array<int, kPriorityCount>{}));
  EXPECT_EQ(admission_.usage().jobs, 0u);
  EXPECT_EQ(admission_.usage().witness_bytes, 0u);
}

}  // namespace
}  // namespace proofmill::engine
