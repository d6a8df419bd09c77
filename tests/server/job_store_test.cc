#include "server/job_store.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/rpc_status.h"
#include "tests/engine/base/fake_clock.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;
using engine::GetReason;
using engine::JobState;
using std::chrono::milliseconds;
using Outcome = absl::StatusOr<engine::ProveResult>;

// What stands for the engine: it keeps the callbacks, so that a test can play its part.
struct Submitted {
  engine::ProveCallback done;
  engine::ProgressCallback progress;
};

class JobStoreTest : public ::testing::Test {
 protected:
  JobStoreTest() { Reset(4, 1 << 20); }

  void Reset(size_t jobs_max, uint64_t result_bytes_max) {
    store_ = std::make_unique<JobStore>(
        JobStore::Options{
            .jobs_max = jobs_max, .result_bytes_max = result_bytes_max, .result_ttl = milliseconds(1000)},
        clock_, [this](int change) { count_ += change; });
    count_ = 0;
    store_->Open(*MakeInstance("127.0.0.1:7"));
  }

  static JobStore::NewJob Params(const std::string& tenant, const std::string& request_id = "") {
    JobStore::NewJob job;
    job.tenant = tenant;
    job.circuit = "c";
    job.version = "v";
    job.request_id = request_id;
    job.timeout = absl::Seconds(10);
    return job;
  }

  JobStore::Submit Take() {
    return [this](engine::ProveCallback done, engine::ProgressCallback progress) {
      submitted_.push_back({std::move(done), std::move(progress)});
      return std::make_shared<engine::Ticket>(std::weak_ptr<engine::Dispatcher>(),
                                              engine::Clock::time_point::max(), engine::Ticket::Callbacks{});
    };
  }
  std::string Make(const std::string& tenant) {
    const auto job = store_->Create(Params(tenant), Take());
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? job->name : "";
  }
  static Outcome Proof(size_t signals = 1) {
    engine::ProveResult result;
    result.output = engine::Groth16Output{{}, std::vector<kernels::Fr>(signals)};
    return result;
  }

  engine::FakeClock clock_;
  int count_ = 0;
  std::unique_ptr<JobStore> store_;
  std::vector<Submitted> submitted_;
};

TEST_F(JobStoreTest, AJobIsWhatTheEngineSaysOfItUntilItsResultExpires) {
  const std::string name = Make("t");

  EXPECT_EQ(store_->Get("t", name)->progress.state, JobState::kQueued);
  submitted_[0].progress({.state = JobState::kQueued, .jobs_ahead = 3, .stage = ""});
  EXPECT_EQ(store_->Get("t", name)->progress.jobs_ahead, 3u);
  submitted_[0].progress({.state = JobState::kRunning, .jobs_ahead = 0, .stage = "ntt"});
  EXPECT_EQ(store_->Get("t", name)->progress.stage, "ntt");
  EXPECT_EQ(store_->Get("t", name)->outcome, nullptr);

  submitted_[0].done(Proof());
  const auto ended = store_->Get("t", name);
  ASSERT_NE(ended->outcome, nullptr);
  EXPECT_TRUE(ended->outcome->ok());
  EXPECT_EQ(ended->expire_time - ended->end_time, absl::Seconds(1));

  clock_.Advance(milliseconds(999));
  store_->EndIdle(clock_.Now());
  EXPECT_TRUE(store_->Get("t", name).ok());
  clock_.Advance(milliseconds(1));
  store_->EndIdle(clock_.Now());
  EXPECT_EQ(GetReason(store_->Get("t", name).status()), ErrorReason::kJobUnknown);
  EXPECT_EQ(count_, 0);
  EXPECT_EQ(store_->usage().result_bytes, 0u);
}

TEST_F(JobStoreTest, AJobDoesNotExistForOtherTenants) {
  const std::string name = Make("t"), nobodys = ToText(*MakeJobName(*MakeInstance("")));
  const std::string nothing(store_->Get("t", nobodys).status().message());
  const std::string same = nothing.substr(0, nothing.rfind(Got(nobodys))) + Got(name);

  for (const absl::Status& status : {store_->Get("u", name).status(), store_->Cancel("u", name).status(),
                                     store_->Delete("u", name), store_->Get("", name).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(status.message(), same) << "what the caller gave is all that differs";
  }
  EXPECT_TRUE(store_->List("u", 10, 0).jobs.empty());
  EXPECT_TRUE(store_->Get("t", name).ok());
}

TEST_F(JobStoreTest, AJobOfAnotherProcessIsKnownByItsName) {
  const Instance elsewhere = *MakeInstance("10.0.0.9:50051");
  const auto other = store_->Get("t", ToText(*MakeJobName(elsewhere)));
  const auto before = store_->Get("t", ToText(*MakeJobName(*MakeInstance("127.0.0.1:7"))));
  const auto nowhere = store_->Get("t", ToText(*MakeJobName(*MakeInstance(""))));

  EXPECT_EQ(other.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(GetReason(other.status()), ErrorReason::kWrongInstance);
  EXPECT_EQ(GetOwnerAddress(other.status()), "10.0.0.9:50051");
  EXPECT_EQ(before.status().code(), absl::StatusCode::kNotFound)
      << "a process that had our address has ended";
  EXPECT_EQ(nowhere.status().code(), absl::StatusCode::kNotFound);
  for (const char* text :
       {"", "jobs", "jobs/x/y", "uploads/0123456789abcdef/00000000000000000000000000000000",
        "jobs/0123456789abcdef/0000", "jobs/0123456789abcdef-!/00000000000000000000000000000000",
        "jobs/0123456789abcdef-/00000000000000000000000000000000",
        "jobs/0123456789ABCDEF/00000000000000000000000000000000",
        "jobs/0123456789abcdef-CgA/00000000000000000000000000000000"}) {
    EXPECT_EQ(store_->Get("t", text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST_F(JobStoreTest, NothingIsMadeBeforeTheProcessKnowsItsAddress) {
  JobStore store({.jobs_max = 1, .result_bytes_max = 1, .result_ttl = milliseconds(1)}, clock_);

  const auto job = store.Create(Params("t"), Take());

  EXPECT_EQ(job.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(engine::GetRetryDelay(job.status()).has_value());
  EXPECT_TRUE(submitted_.empty());
}

TEST_F(JobStoreTest, ARefusedJobLeavesNothingBehind) {
  const auto refused = store_->Create(
      Params("t", "id"),
      [](engine::ProveCallback, engine::ProgressCallback) -> absl::StatusOr<std::shared_ptr<engine::Ticket>> {
        return absl::ResourceExhaustedError("full");
      });

  EXPECT_EQ(refused.status().message(), "full");
  EXPECT_EQ(store_->usage().jobs, 0u);
  EXPECT_EQ(count_, 0);
  EXPECT_TRUE(store_->List("t", 10, 0).jobs.empty());
}

TEST_F(JobStoreTest, RoomIsMadeByTheOldestEndedJobOfWhoHasMost) {
  const std::string modest = Make("modest");
  const std::string first = Make("greedy"), second = Make("greedy"), third = Make("greedy");
  for (const Submitted& job : submitted_) job.done(Proof());

  const std::string fourth = Make("greedy");

  EXPECT_TRUE(store_->Get("modest", modest).ok()) << "the oldest of all, but not of who has most";
  EXPECT_FALSE(store_->Get("greedy", first).ok());
  EXPECT_TRUE(store_->Get("greedy", second).ok());
  EXPECT_TRUE(store_->Get("greedy", fourth).ok());
  EXPECT_EQ(count_, 4);
}

TEST_F(JobStoreTest, WhereNoneHasEndedThereIsNoRoom) {
  for (int i = 0; i < 4; ++i) Make("t");

  const auto refused = store_->Create(Params("u"), Take());

  EXPECT_EQ(GetReason(refused.status()), ErrorReason::kQueueFull);
  EXPECT_TRUE(engine::GetRetryDelay(refused.status()).has_value());
  EXPECT_EQ(submitted_.size(), 4u);
}

TEST_F(JobStoreTest, ResultsAreBoundedByTheirBytesToo) {
  Reset(100, 40'000);
  std::vector<std::string> names;
  for (size_t i = 0; i < 10; ++i) {
    names.push_back(Make("t"));
    submitted_[i].done(Proof(300));  // 9600 bytes and a little
    EXPECT_LE(store_->usage().result_bytes, 40'000u);
  }

  EXPECT_FALSE(store_->Get("t", names[0]).ok());
  EXPECT_TRUE(store_->Get("t", names[9]).ok());
  EXPECT_GE(store_->usage().jobs, 3u);
}

TEST_F(JobStoreTest, DeletingForgetsAtOnceAndALateResultIsDropped) {
  const std::string name = Make("t");

  EXPECT_TRUE(store_->Delete("t", name).ok());
  EXPECT_EQ(store_->Delete("t", name).code(), absl::StatusCode::kNotFound);
  submitted_[0].done(Proof());

  EXPECT_EQ(store_->usage().jobs, 0u);
  EXPECT_EQ(store_->usage().ended, 0u);
  EXPECT_EQ(store_->usage().result_bytes, 0u);
}

TEST_F(JobStoreTest, PagesFollowEachOtherAndAreOfOneTenant) {
  Reset(100, 1 << 20);
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    names.push_back(Make("t"));
    Make("u");
  }
  std::vector<std::string> listed;
  std::optional<uint64_t> from = 0;
  int pages = 0;
  while (from.has_value()) {
    const JobStore::Page page = store_->List("t", 2, *from);
    for (const JobView& job : page.jobs) listed.push_back(job.name);
    from = page.next;
    ++pages;
  }

  EXPECT_EQ(listed, names);
  EXPECT_EQ(pages, 3);
}

class CountingWatcher final : public JobStore::Watcher {
 public:
  void OnJobChanged() override { ++changes; }
  int changes = 0;
};

TEST_F(JobStoreTest, WatchersHearOfEveryChangeAsLongAsTheyLive) {
  const std::string name = Make("t");
  auto watcher = std::make_shared<CountingWatcher>();
  auto gone = std::make_shared<CountingWatcher>();
  ASSERT_TRUE(store_->Watch("t", name, watcher).ok());
  ASSERT_TRUE(store_->Watch("t", name, gone).ok());
  EXPECT_FALSE(store_->Watch("u", name, watcher).ok());
  gone.reset();

  submitted_[0].progress({.state = JobState::kRunning, .jobs_ahead = 0, .stage = ""});
  submitted_[0].done(absl::InternalError("broken"));
  submitted_[0].progress({.state = JobState::kRunning, .jobs_ahead = 0, .stage = "late"});

  EXPECT_EQ(watcher->changes, 2);
  ASSERT_TRUE(store_->Delete("t", name).ok());
  EXPECT_EQ(watcher->changes, 3) << "that it is gone is a change too";
}

TEST(JobNameTest, NamesAreReadBackAndNoTwoAreTheSame) {
  const Instance instance = *MakeInstance("[2001:db8::1]:50051");
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const JobName name = *MakeJobName(instance);
    const auto read = ParseJobName(ToText(name));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->id, name.id);
    EXPECT_EQ(read->instance.token, instance.token);
    EXPECT_EQ(read->instance.address, "[2001:db8::1]:50051");
    names.insert(name.id);
  }
  EXPECT_EQ(names.size(), 100u);
}

}  // namespace
}  // namespace proofmill::server
