#include "engine/dispatch/dispatcher.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

absl::Status AdmitAll(Job&) { return absl::OkStatus(); }

struct Request {
  std::string id = {};  // empty: no idempotency
  std::optional<Clock::duration> deadline = std::nullopt;
  uint8_t content = 1;
  Dispatcher::Admit admit = AdmitAll;
};

// Most tests do the answering thread's and the worker's work by hand, in virtual time.
class DispatcherTest : public testing::Test {
 protected:
  DispatcherTest()
      : dispatcher_(std::make_shared<Dispatcher>(
            Dispatcher::Options{
                .queue = {.workers = 2, .aging = seconds(10)},
                .request_ids = {.ttl = seconds(60), .results_max = 100, .result_bytes_max = 1 << 20},
                .places_interval = milliseconds(250)},
            observer_, clock_)) {}
  ~DispatcherTest() override {
    dispatcher_->queue().Close();
    dispatcher_->AbandonAll();
    Answer();
    dispatcher_->Stop();
  }

  absl::StatusOr<std::shared_ptr<Ticket>> TrySubmit(const Reply& reply, const Request& request) {
    last_job_ = FakeJob(clock_.Now(), {.tenant = "tenant", .request_id = request.id});
    std::optional<RequestContent> content;
    if (!request.id.empty())
      content = RequestContent{.witness = {request.content}, .circuit = "c", .version = ""};
    const Clock::time_point deadline = clock_.Now() + request.deadline.value_or(seconds(1000));
    return dispatcher_->Submit(last_job_, content, deadline, {reply.done(), reply.progress()}, request.admit);
  }
  std::shared_ptr<Ticket> Submit(const Reply& reply, const Request& request = {}) {
    auto ticket = TrySubmit(reply, request);
    EXPECT_TRUE(ticket.ok()) << ticket.status();
    return ticket.ok() ? *ticket : nullptr;
  }
  void Answer() {
    while (dispatcher_->AnswerPosted()) {
    }
  }
  JobPtr Start(size_t worker = 0) {
    JobPtr job = dispatcher_->queue().TryPop(worker);
    if (job == nullptr || !job->Start()) return nullptr;
    return job;
  }
  void Finish(const JobPtr& job, const absl::StatusOr<ProveResult>& result = ProveResult{},
              size_t worker = 0) {
    dispatcher_->Complete(*job, result);
    dispatcher_->queue().Done(worker);
  }

  FakeClock clock_;
  CountingObserver observer_;
  std::shared_ptr<Dispatcher> dispatcher_;
  std::shared_ptr<Job> last_job_;
};

TEST_F(DispatcherTest, AFinishedJobIsAnsweredWithItsResult) {
  const Reply reply;
  const auto ticket = Submit(reply);
  EXPECT_EQ(ticket->progress().state, JobState::kQueued);
  const JobPtr job = Start();
  EXPECT_EQ(ticket->progress().state, JobState::kRunning);

  ProveResult result;
  result.device = "cpu";
  Finish(job, result);

  EXPECT_EQ(reply.Wait()->device, "cpu");
  EXPECT_EQ(ticket->progress().state, JobState::kDone);
  EXPECT_EQ(InputBytes(job->witness()), 0u) << "the witness is gone before the answer";
  ticket->Cancel();
  Answer();
  reply.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, ACancelledQueuedJobLeavesTheQueueAtOnceAndIsAnsweredElsewhere) {
  const Reply reply;
  const auto ticket = Submit(reply);

  ticket->Cancel();
  EXPECT_EQ(dispatcher_->queue().size(), 0u);
  EXPECT_FALSE(reply.answered()) << "no callback inside Cancel()";
  Answer();

  const absl::Status status = reply.Wait().status();
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kCancelled);
  EXPECT_EQ(observer_.totals().dropped, (std::map<std::string, int>{{"cancelled", 1}}));
  EXPECT_EQ(InputBytes(last_job_->witness()), 0u);
  ticket->Cancel();
  Answer();
  reply.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, ACancelledRunningJobIsAnsweredWithoutWaitingForTheDevice) {
  const Reply reply;
  const auto ticket = Submit(reply);
  const JobPtr job = Start();

  ticket->Cancel();
  Answer();

  EXPECT_TRUE(absl::IsCancelled(reply.Wait().status()));
  EXPECT_TRUE(absl::IsCancelled(job->cancellation().Check())) << "the prover stops at its next stage";
  Finish(job, absl::CancelledError("stopped"));
  Answer();
  reply.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, AnExpiredJobIsAnsweredWhileItsWorkerIsBusyAndNeverHandedOut) {
  const Reply busy, expired;
  Submit(busy);
  const JobPtr running = Start();
  Submit(expired, {.deadline = milliseconds(100)});

  clock_.Advance(milliseconds(99));
  Answer();
  EXPECT_FALSE(expired.answered());
  clock_.Advance(milliseconds(1));
  Answer();

  const absl::Status status = expired.Wait().status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kDeadlineExpired);
  EXPECT_EQ(Start(1), nullptr);
  EXPECT_EQ(observer_.totals().dropped, (std::map<std::string, int>{{"expired", 1}}));
  Finish(running);
  EXPECT_TRUE(busy.Wait().ok());
}

TEST_F(DispatcherTest, ARunningJobIsStoppedAtItsDeadline) {
  const Reply reply;
  Submit(reply, {.deadline = milliseconds(100)});
  const JobPtr job = Start();

  clock_.Advance(milliseconds(100));
  Answer();

  EXPECT_TRUE(absl::IsDeadlineExceeded(reply.Wait().status()));
  EXPECT_FALSE(job->cancellation().Check().ok());
  Finish(job, absl::CancelledError("stopped"));
  reply.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, AJobThatExpiredUnnoticedIsNotBegunForNobody) {
  const Reply reply;
  Submit(reply, {.deadline = milliseconds(100)});
  clock_.Advance(milliseconds(200));
  const JobPtr job = dispatcher_->queue().TryPop(0);

  dispatcher_->ExpireTickets(*job);

  EXPECT_FALSE(job->Start());
  dispatcher_->queue().Done(0);
  Answer();
  EXPECT_EQ(GetReason(reply.Wait().status()), ErrorReason::kDeadlineExpired);
  reply.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, ARefusedJobGetsNoCallback) {
  const Reply reply;
  const auto refused =
      TrySubmit(reply, {.id = "id", .admit = [](Job&) { return absl::ResourceExhaustedError("full"); }});

  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  Answer();
  EXPECT_FALSE(reply.answered());
  EXPECT_EQ(dispatcher_->request_ids().size(), 0u) << "a retry may use the id";
  EXPECT_EQ(observer_.totals().depth, (std::array<int, kPriorityCount>{}));
}

TEST_F(DispatcherTest, AClosedQueueRefusesAndGivesTheReason) {
  dispatcher_->queue().Close();
  const Reply reply;
  EXPECT_EQ(GetReason(TrySubmit(reply, {}).status()), ErrorReason::kDraining);
  EXPECT_EQ(observer_.totals().depth, (std::array<int, kPriorityCount>{}));
}

TEST_F(DispatcherTest, ARepeatedRequestGetsTheSameJob) {
  const Reply first, second;
  Submit(first, {.id = "id"});
  Submit(second, {.id = "id"});
  EXPECT_EQ(dispatcher_->queue().size(), 1u) << "one proof";

  Finish(Start());

  EXPECT_TRUE(first.Wait().ok());
  EXPECT_TRUE(second.Wait().ok());
  first.ExpectAnsweredOnce();
  second.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, ARepeatedRequestGetsTheResultOfAFinishedJobWithoutBeingAdmitted) {
  const Reply first, second;
  Submit(first, {.id = "id"});
  ProveResult result;
  result.device = "cuda:0";
  Finish(Start(), result);

  Submit(second, {.id = "id", .admit = [](Job&) { return absl::ResourceExhaustedError("full"); }});
  EXPECT_FALSE(second.answered()) << "no callback inside Submit()";
  Answer();

  EXPECT_EQ(second.Wait()->device, "cuda:0");
}

TEST_F(DispatcherTest, TheSameIdWithOtherContentIsRefused) {
  const Reply first, second;
  Submit(first, {.id = "id", .content = 1});

  const auto conflict = TrySubmit(second, {.id = "id", .content = 2});

  EXPECT_EQ(GetReason(conflict.status()), ErrorReason::kRequestIdConflict);
  Finish(Start());
  EXPECT_TRUE(first.Wait().ok()) << "the first is not disturbed";
  Answer();
  EXPECT_FALSE(second.answered());
}

TEST_F(DispatcherTest, AJobGoesOnAsLongAsOneTicketWaits) {
  const Reply first, second;
  const auto first_ticket = Submit(first, {.id = "id"});
  const auto second_ticket = Submit(second, {.id = "id", .deadline = seconds(5)});

  first_ticket->Cancel();
  Answer();
  EXPECT_TRUE(absl::IsCancelled(first.Wait().status()));
  const JobPtr job = Start();
  ASSERT_NE(job, nullptr);
  EXPECT_TRUE(job->cancellation().Check().ok());
  EXPECT_TRUE(observer_.totals().dropped.empty());

  clock_.Advance(seconds(5));
  Answer();
  EXPECT_TRUE(absl::IsDeadlineExceeded(second.Wait().status()));
  EXPECT_FALSE(job->cancellation().Check().ok()) << "nobody waits any more";
  Finish(job, absl::CancelledError("stopped"));
}

TEST_F(DispatcherTest, AnIdWhoseJobWasGivenUpRunsAnew) {
  const Reply first, second;
  Submit(first, {.id = "id"})->Cancel();
  Submit(second, {.id = "id"});
  Answer();

  EXPECT_TRUE(absl::IsCancelled(first.Wait().status()));
  Finish(Start());
  EXPECT_TRUE(second.Wait().ok());
}

TEST_F(DispatcherTest, AnIdWhoseJobEndsJustNowRunsAnew) {
  const Reply first, second;
  Submit(first, {.id = "id"});
  // As between the end of a job that was given up and the moment its id is freed.
  const auto tickets = last_job_->Finish();
  ASSERT_EQ(tickets.size(), 1u);

  Submit(second, {.id = "id"});

  dispatcher_->queue().Remove(*dispatcher_->queue().InOrder().front());
  Finish(Start());
  EXPECT_TRUE(second.Wait().ok());
}

TEST_F(DispatcherTest, AResultThatComesDuringAProgressCallbackWaitsForItsEnd) {
  Latch inside, go_on;
  std::atomic<bool> progress_ended{false}, result_came_after{false};
  auto job = FakeJob(clock_.Now());
  Latch done;
  ASSERT_TRUE(dispatcher_
                  ->Submit(job, std::nullopt, clock_.Now() + seconds(1),
                           {.done =
                                [&](const absl::StatusOr<ProveResult>&) {
                                  result_came_after = progress_ended.load();
                                  done.Open();
                                },
                            .progress =
                                [&](const Progress&) {
                                  inside.Open();
                                  EXPECT_TRUE(go_on.Wait());
                                  progress_ended = true;
                                }},
                           AdmitAll)
                  .ok());
  ASSERT_EQ(Start(), job);
  std::thread reporter([&] { dispatcher_->ReportProgress(*job); });
  ASSERT_TRUE(inside.Wait());

  Finish(job);
  EXPECT_FALSE(done.IsOpen()) << "the other thread delivers it";
  go_on.Open();
  reporter.join();

  EXPECT_TRUE(done.IsOpen());
  EXPECT_TRUE(result_came_after);
}

TEST_F(DispatcherTest, WhoeverAttachedToAJobThatIsRefusedIsToldSo) {
  const Reply first, second;
  const auto refused = TrySubmit(first, {.id = "id", .admit = [&](Job&) {
                                           Submit(second, {.id = "id"});
                                           return absl::ResourceExhaustedError("full");
                                         }});

  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  Answer();
  EXPECT_TRUE(absl::IsResourceExhausted(second.Wait().status()));
  EXPECT_FALSE(first.answered());
}

TEST_F(DispatcherTest, ProgressTellsOfThePlaceThenOfTheStages) {
  const Reply first, second;
  Submit(first);
  const auto second_ticket = Submit(second);
  EXPECT_EQ(second_ticket->progress().jobs_ahead, 1u);

  const JobPtr job = Start();
  dispatcher_->PlacesChanged();
  Answer();
  job->ReportStage("msm_a");
  dispatcher_->ReportProgress(*job);
  Finish(job);

  ASSERT_EQ(second.progress_heard().size(), 1u);
  EXPECT_EQ(second.progress_heard()[0].state, JobState::kQueued);
  EXPECT_EQ(second.progress_heard()[0].jobs_ahead, 0u);
  ASSERT_EQ(first.progress_heard().size(), 1u);
  EXPECT_EQ(first.progress_heard()[0].state, JobState::kRunning);
  EXPECT_EQ(first.progress_heard()[0].stage, "msm_a");
}

TEST_F(DispatcherTest, NewsOfPlacesComeNotTooOften) {
  const Reply reply;
  Submit(reply);
  for (int i = 0; i < 10; ++i) {
    dispatcher_->PlacesChanged();
    Answer();
  }
  EXPECT_EQ(reply.progress_heard().size(), 1u);

  clock_.Advance(milliseconds(250));
  Answer();

  EXPECT_EQ(reply.progress_heard().size(), 2u);
}

TEST_F(DispatcherTest, WhenTheLastDeviceGoesQueuedJobsAreToldSo) {
  const Reply reply;
  Submit(reply);
  dispatcher_->RemoveWorker(0);
  Answer();
  EXPECT_FALSE(reply.answered()) << "one device is left";

  dispatcher_->RemoveWorker(1);
  Answer();

  const absl::Status status = reply.Wait().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kNoDevice);
  EXPECT_EQ(observer_.totals().depth, (std::array<int, kPriorityCount>{}));
}

TEST_F(DispatcherTest, AbandonedJobsAreToldThatTheServiceDrains) {
  const Reply running, queued;
  Submit(running);
  Submit(queued);
  const JobPtr job = Start();

  dispatcher_->AbandonAll();
  Answer();

  EXPECT_EQ(GetReason(running.Wait().status()), ErrorReason::kDraining);
  EXPECT_EQ(GetReason(queued.Wait().status()), ErrorReason::kDraining);
  EXPECT_FALSE(job->cancellation().Check().ok());
  Finish(job, absl::CancelledError("stopped"));
  EXPECT_EQ(observer_.totals().dropped, (std::map<std::string, int>{{"draining", 2}}));
}

TEST_F(DispatcherTest, ATicketMayBeCancelledAfterEverythingIsGone) {
  const Reply reply;
  const auto ticket = Submit(reply);
  dispatcher_->queue().Close();
  dispatcher_->AbandonAll();
  Answer();
  dispatcher_ = std::make_shared<Dispatcher>(
      Dispatcher::Options{.queue = {.workers = 1, .aging = seconds(1)},
                          .request_ids = {.ttl = seconds(1), .results_max = 1, .result_bytes_max = 1},
                          .places_interval = milliseconds(1)},
      observer_, clock_);

  ticket->Cancel();

  EXPECT_EQ(ticket->progress().state, JobState::kDone);
  reply.ExpectAnsweredOnce();
}

TEST_F(DispatcherTest, TheAnsweringThreadDoesAllThisByItself) {
  dispatcher_->Start();
  const Reply cancelled, expired;
  Submit(cancelled)->Cancel();
  Submit(expired, {.deadline = milliseconds(100)});

  EXPECT_TRUE(absl::IsCancelled(cancelled.Wait().status()));
  clock_.Advance(milliseconds(100));
  EXPECT_TRUE(absl::IsDeadlineExceeded(expired.Wait().status()));
}

TEST_F(DispatcherTest, StopWaitsForAnswersThatAreNotPostedYet) {
  dispatcher_->Start();
  const Reply reply;
  const auto ticket = Submit(reply);
  std::thread canceller([&] { ticket->Cancel(); });

  dispatcher_->Stop();

  canceller.join();
  EXPECT_TRUE(reply.answered());
}

}  // namespace
}  // namespace proofmill::engine
