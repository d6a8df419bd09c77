// Queue, dispatcher and a few devices in virtual time, driven by one seed: thousands of small histories of
// arrivals, cancellations, deadlines, repeats and faults, with what must hold in each of them. A failure
// prints its seed; run that one alone with PROOFMILL_SIMULATION_SEED=N.

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/dispatch/admission.h"
#include "engine/dispatch/dispatcher.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAging{200};
constexpr milliseconds kRunMax{50};

class Simulation {
 public:
  explicit Simulation(uint64_t seed)
      : random_(seed),
        devices_(1 + Pick(3)),
        admission_({.jobs_max = 1 + Pick(20), .witness_bytes_max = 64 * (1 + Pick(20))}),
        dispatcher_(std::make_shared<Dispatcher>(
            Dispatcher::Options{
                .queue = {.workers = devices_.size(), .aging = kAging},
                .request_ids = {.ttl = milliseconds(100), .results_max = 5, .result_bytes_max = 1 << 20},
                .places_interval = milliseconds(20)},
            observer_, clock_)) {}

  void Run() {
    const size_t requests = 20 + Pick(60);
    Clock::time_point arrival = clock_.Now();
    for (size_t i = 0; i < requests; ++i) {
      arrival += milliseconds(Pick(15));
      At(arrival, [this] { Arrive(); });
    }
    while (!events_.empty()) {
      const auto next = events_.begin();
      clock_.AdvanceTo(next->first);
      const std::function<void()> event = std::move(next->second);
      events_.erase(next);
      event();
      Settle();
    }
    CheckEnd();
  }

 private:
  struct Request {
    std::optional<absl::Status> answer;
    Clock::time_point answered_at, deadline;
    std::shared_ptr<Ticket> ticket;
    bool cancelled = false;
  };
  struct Device {
    JobPtr job;
    bool up = true;
  };

  size_t Pick(size_t n) { return static_cast<size_t>(random_() % n); }
  void At(Clock::time_point when, std::function<void()> event) { events_.emplace(when, std::move(event)); }

  void Arrive() {
    auto request = std::make_shared<Request>();
    request->deadline = clock_.Now() + milliseconds(Pick(4) == 0 ? Pick(100) : 100'000);
    std::optional<RequestContent> content;
    std::string id;
    if (Pick(3) == 0) {
      id = std::to_string(Pick(4));
      content =
          RequestContent{.witness = {static_cast<uint8_t>(Pick(10) == 0)}, .circuit = "c", .version = ""};
    }
    auto job = FakeJob(clock_.Now(), {.priority = static_cast<Priority>(Pick(3)),
                                      .request_id = id,
                                      .expected_run = milliseconds(Pick(50))});
    auto ticket = dispatcher_->Submit(
        std::move(job), content, request->deadline,
        {.done = [this, request](const absl::StatusOr<ProveResult>& result) { OnAnswer(*request, result); },
         .progress = [request](const Progress&) { EXPECT_FALSE(request->answer.has_value()); }},
        [this](Job& taken) { return taken.Reserve(admission_); });
    if (!ticket.ok()) {
      EXPECT_TRUE(GetReason(ticket.status()).has_value()) << ticket.status();
      EXPECT_FALSE(request->answer.has_value());
      return;
    }
    request->ticket = *std::move(ticket);
    taken_.push_back(request);
    if (Pick(4) == 0) {
      At(clock_.Now() + milliseconds(Pick(120)), [request] {
        request->cancelled = true;
        request->ticket->Cancel();
      });
    }
    // So that the clock stops at the deadline.
    At(request->deadline, [] {});
  }

  void OnAnswer(Request& request, const absl::StatusOr<ProveResult>& result) {
    EXPECT_FALSE(request.answer.has_value()) << "a second answer";
    request.answer = result.status();
    request.answered_at = clock_.Now();
    if (absl::IsCancelled(result.status())) {
      EXPECT_TRUE(request.cancelled);
    }
    if (absl::IsDeadlineExceeded(result.status())) {
      EXPECT_GE(clock_.Now(), request.deadline);
    }
  }

  // Lets everything happen that can happen now.
  void Settle() {
    bool busy = true;
    while (busy) {
      busy = dispatcher_->AnswerPosted();
      for (size_t i = 0; i < devices_.size(); ++i) busy = TakeJob(i) || busy;
    }
    EXPECT_LE(admission_.usage().jobs, admission_.limits().jobs_max);
    EXPECT_LE(admission_.usage().witness_bytes, admission_.limits().witness_bytes_max);
    for (const JobPtr& job : dispatcher_->queue().InOrder()) {
      EXPECT_FALSE(job->tickets().empty()) << "a job that nobody waits for takes up a place";
    }
    for (const auto& request : taken_) {
      EXPECT_TRUE(request->answer.has_value() || clock_.Now() < request->deadline)
          << "expired and not answered";
      EXPECT_TRUE(request->answer.has_value() || !request->cancelled) << "cancelled and not answered";
    }
  }

  bool TakeJob(size_t index) {
    Device& device = devices_[index];
    if (device.job != nullptr || !device.up) return false;
    JobPtr job = dispatcher_->queue().TryPop(index);
    if (job == nullptr) return false;
    job->ReleaseJobSlot();
    CheckOrder(*job);
    dispatcher_->PlacesChanged();
    dispatcher_->ExpireTickets(*job);
    if (!job->Start()) {
      job->DropWitness();
      dispatcher_->queue().Done(index);
      return true;
    }
    const auto spoiled = spoiled_on_.find(job.get());
    if (spoiled != spoiled_on_.end()) {
      EXPECT_NE(spoiled->second, index) << "run again on the device that spoiled it";
    }
    device.job = job;
    At(clock_.Now() + milliseconds(1 + Pick(kRunMax.count())), [this, index] { EndJob(index); });
    return true;
  }

  // Nobody is overtaken by a job that came more than two agings later, whatever their levels.
  void CheckOrder(const Job& taken) {
    if (taken.WasRequeued()) return;
    for (const JobPtr& waiting : dispatcher_->queue().InOrder()) {
      if (waiting->WasRequeued()) continue;
      EXPECT_LE(taken.enqueue_time(), waiting->enqueue_time() + 2 * kAging);
      if (taken.priority() <= waiting->priority()) {
        EXPECT_LE(taken.enqueue_time(), waiting->enqueue_time());
      }
    }
  }

  void EndJob(size_t index) {
    Device& device = devices_[index];
    const JobPtr job = std::exchange(device.job, nullptr);
    const bool faulty = Pick(10) == 0;
    absl::StatusOr<ProveResult> result = ProveResult{};
    if (!job->cancellation().Check().ok()) {
      result = absl::CancelledError("stopped");
    } else if (faulty) {
      result = WithReason(absl::InternalError("fault"), ErrorReason::kDeviceFault);
    }
    if (faulty && !job->WasRequeued() && dispatcher_->queue().Requeue(index, job)) {
      spoiled_on_[job.get()] = index;
      kept_.push_back(job);
    } else {
      dispatcher_->Complete(*job, result);
      dispatcher_->queue().Done(index);
    }
    if (faulty && Pick(5) == 0) {
      device.up = false;
      dispatcher_->RemoveWorker(index);
    }
  }

  void CheckEnd() {
    for (const auto& request : taken_) EXPECT_TRUE(request->answer.has_value()) << "never answered";
    EXPECT_EQ(dispatcher_->queue().size(), 0u);
    EXPECT_TRUE(dispatcher_->queue().running().empty());
    EXPECT_EQ(admission_.usage().jobs, 0u);
    EXPECT_EQ(admission_.usage().witness_bytes, 0u);
  }

  std::mt19937_64 random_;
  FakeClock clock_;
  Observer observer_;
  std::vector<Device> devices_;
  Admission admission_;
  std::shared_ptr<Dispatcher> dispatcher_;
  std::multimap<Clock::time_point, std::function<void()>> events_;
  std::vector<std::shared_ptr<Request>> taken_;
  std::map<const Job*, size_t> spoiled_on_;
  std::vector<JobPtr> kept_;  // so that no other job gets an address in the map
};

TEST(SimulationTest, EveryHistoryEndsWithOneAnswerForEverybodyAndNothingLeftBehind) {
  uint64_t first = 1, last = 2000;
  if (const char* seed = std::getenv("PROOFMILL_SIMULATION_SEED"))
    first = last = std::strtoull(seed, nullptr, 10);
  for (uint64_t seed = first; seed <= last; ++seed) {
    Simulation(seed).Run();
    ASSERT_FALSE(HasFailure()) << "PROOFMILL_SIMULATION_SEED=" << seed;
  }
}

}  // namespace
}  // namespace proofmill::engine
