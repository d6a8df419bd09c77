#include "engine/dispatch/request_ids.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"
#include "tests/engine/dispatch/fakes.h"

namespace proofmill::engine {
namespace {

using std::chrono::seconds;

class RequestIdsTest : public testing::Test {
 protected:
  RequestIdsTest() : ids_({.ttl = seconds(60), .results_max = 3, .result_bytes_max = 1 << 20}, clock_) {}

  std::shared_ptr<Job> Make(std::string id, std::string tenant = "t") {
    return FakeJob(clock_.Now(), {.tenant = std::move(tenant), .request_id = std::move(id)});
  }
  // Contents with different witnesses.
  static RequestContent ContentOf(uint8_t witness, std::string version = "") {
    return {.witness = {witness}, .circuit = "c", .version = std::move(version)};
  }
  // A job that was remembered and ended with `result`.
  std::shared_ptr<Job> Finished(const std::string& id, const absl::StatusOr<ProveResult>& result) {
    std::shared_ptr<Job> job = Make(id);
    EXPECT_FALSE(ids_.FindOrInsert(job, ContentOf(1))->has_value());
    ids_.Complete(*job, result);
    return job;
  }
  bool IsFree(const std::string& id) {
    std::shared_ptr<Job> job = Make(id);
    const auto known = ids_.FindOrInsert(job, ContentOf(1));
    const bool free = known.ok() && !known->has_value();
    if (free) ids_.Forget(*job);
    return free;
  }
  static ProveResult ResultOn(std::string device) {
    ProveResult result{};
    result.device = std::move(device);
    return result;
  }

  FakeClock clock_;
  RequestIds ids_;
};

TEST_F(RequestIdsTest, TheSameIdAndContentFindTheRunningJob) {
  const auto job = Make("id");
  ASSERT_FALSE(ids_.FindOrInsert(job, ContentOf(1))->has_value());

  const auto known = ids_.FindOrInsert(Make("id"), ContentOf(1));

  ASSERT_TRUE(known.ok() && known->has_value());
  EXPECT_EQ((*known)->job, job);
}

TEST_F(RequestIdsTest, TheSameIdWithOtherContentIsAConflict) {
  ASSERT_TRUE(ids_.FindOrInsert(Make("id"), ContentOf(1)).ok());

  const absl::Status status = ids_.FindOrInsert(Make("id"), ContentOf(2)).status();

  EXPECT_TRUE(absl::IsAlreadyExists(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kRequestIdConflict);
}

TEST_F(RequestIdsTest, AConflictSaysWhatDiffers) {
  const std::string version = FakeCircuit()->version;
  ASSERT_TRUE(ids_.FindOrInsert(Make("id"), ContentOf(1)).ok());
  const auto message_for = [&](const RequestContent& content) {
    return std::string(ids_.FindOrInsert(Make("id"), content).status().message());
  };
  const std::string before = "request id \"id\" was used before with ";

  EXPECT_EQ(message_for(ContentOf(2)), before + "another witness");
  EXPECT_EQ(message_for(ContentOf(1, "other")), before + "version " + version + ", got other");
  RequestContent other = ContentOf(1);
  other.circuit = "d";
  EXPECT_EQ(message_for(other), before + "circuit c, got d");
}

// The first need not have pinned the version that it was proved with, nor must those after it.
TEST_F(RequestIdsTest, APinOfTheVersionThatProvesItMakesNoOtherContent) {
  const std::string version = FakeCircuit()->version;
  ASSERT_FALSE(version.empty());
  for (const auto& [id, first, second] : {std::tuple("1", "", version.c_str()),
                                          std::tuple("2", version.c_str(), ""), std::tuple("3", "", "")}) {
    ASSERT_TRUE(ids_.FindOrInsert(Make(id), ContentOf(1, first)).ok());
    const auto known = ids_.FindOrInsert(Make(id), ContentOf(1, second));
    ASSERT_TRUE(known.ok()) << known.status();
    EXPECT_TRUE(known->has_value()) << id;
  }
}

TEST_F(RequestIdsTest, TenantsDoNotShareIds) {
  ASSERT_TRUE(ids_.FindOrInsert(Make("id", "alice"), ContentOf(1)).ok());

  const auto other = ids_.FindOrInsert(Make("id", "bob"), ContentOf(2));

  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->has_value());
}

TEST_F(RequestIdsTest, AProofIsRememberedUntilItsTimeIsOver) {
  Finished("id", ResultOn("cpu"));
  clock_.Advance(seconds(59));

  const auto known = ids_.FindOrInsert(Make("id"), ContentOf(1));
  ASSERT_TRUE(known.ok() && known->has_value());
  EXPECT_EQ((*known)->result.value()->device, "cpu");
  EXPECT_EQ(GetReason(ids_.FindOrInsert(Make("id"), ContentOf(2)).status()), ErrorReason::kRequestIdConflict);

  clock_.Advance(seconds(1));
  EXPECT_TRUE(IsFree("id"));
}

TEST_F(RequestIdsTest, OnlyAnswersThatWouldComeAgainAreRemembered) {
  Finished("bad witness", absl::InvalidArgumentError("x"));
  EXPECT_FALSE(IsFree("bad witness"));

  Finished("cancelled", absl::CancelledError("x"));
  Finished("device", absl::InternalError("x"));
  Finished("drained", absl::UnavailableError("x"));
  EXPECT_TRUE(IsFree("cancelled"));
  EXPECT_TRUE(IsFree("device"));
  EXPECT_TRUE(IsFree("drained"));
}

TEST_F(RequestIdsTest, TheOldestResultsMakeRoom) {
  for (const char* id : {"1", "2", "3", "4"}) Finished(id, ResultOn("cpu"));

  EXPECT_TRUE(IsFree("1"));
  EXPECT_FALSE(IsFree("2"));
  EXPECT_FALSE(IsFree("4"));
  EXPECT_EQ(ids_.size(), 3u);
}

TEST_F(RequestIdsTest, LargeResultsMakeRoomByTheirBytes) {
  ProveResult large = ResultOn("cpu");
  large.output = Groth16Output{{}, std::vector<kernels::Fr>(20'000)};  // 640 KB of at most 1 MiB
  Finished("1", large);
  Finished("2", large);

  EXPECT_TRUE(IsFree("1"));
  EXPECT_FALSE(IsFree("2"));
}

TEST_F(RequestIdsTest, AnEntryOfAnEndedJobCanBeTakenOver) {
  const auto ended = Make("id");
  ASSERT_TRUE(ids_.FindOrInsert(ended, ContentOf(1)).ok());
  const auto next = Make("id");

  const auto known = ids_.FindOrInsert(next, ContentOf(2), ended.get());
  ASSERT_TRUE(known.ok());
  EXPECT_FALSE(known->has_value());

  ids_.Forget(*ended);
  ids_.Complete(*ended, ResultOn("late"));
  EXPECT_EQ((*ids_.FindOrInsert(Make("id"), ContentOf(2)))->job, next) << "the ended job has no say any more";
}

TEST_F(RequestIdsTest, JobsWithoutAnIdLeaveNoTrace) {
  const auto job = Make("");
  ids_.Complete(*job, ResultOn("cpu"));
  ids_.Forget(*job);
  EXPECT_EQ(ids_.size(), 0u);
}

TEST_F(RequestIdsTest, TheDigestIsKeyedSoThatItDoesNotConfirmGuesses) {
  RequestIds other({.ttl = seconds(60), .results_max = 3, .result_bytes_max = 1 << 20}, clock_);
  const ProofInput witness = FakeWitness(5);

  EXPECT_NE(ids_.Digest(witness), other.Digest(witness));
}

// A witness of so many values, each another one.
ProofInput Values(size_t count) {
  Witness witness{SecretBuffer<kernels::U256>(count)};
  for (size_t i = 0; i < count; ++i) witness.values[i] = kernels::U256{{i * 3 + 1, i, 0, 7}};
  return witness;
}

TEST_F(RequestIdsTest, ADigestIsThatOfEveryByteInItsPlace) {
  constexpr size_t kBlockValues = (256 << 10) / 32;  // above that it is made in blocks
  for (const size_t count : {size_t{1}, kBlockValues, kBlockValues + 1, 3 * kBlockValues, 100'001ul}) {
    ProofInput input = Values(count);
    auto& values = std::get<Witness>(input).values;
    const RequestDigest digest = ids_.Digest(input);
    EXPECT_EQ(ids_.Digest(Values(count)), digest) << count;
    for (size_t i = 0; i < count; i += count / 50 + 1) {
      values[i].limb[3] ^= uint64_t{1} << 63;
      EXPECT_NE(ids_.Digest(input), digest) << count << " at " << i;
      values[i].limb[3] ^= uint64_t{1} << 63;
    }
    values[count - 1].limb[0] ^= 1;
    EXPECT_NE(ids_.Digest(input), digest) << count;
    values[count - 1].limb[0] ^= 1;
    if (count < 2 * kBlockValues) continue;
    std::swap_ranges(values.begin(), values.begin() + kBlockValues, values.begin() + kBlockValues);
    EXPECT_NE(ids_.Digest(input), digest) << count;
  }
}

}  // namespace
}  // namespace proofmill::engine
