#include "engine/backend/cuda/key_plan.h"

#include <algorithm>
#include <string>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/workspace_model.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

using testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = size_t{1} << 30;
constexpr size_t kH200 = 139 * kGiB;

// A dense circuit of domain 2^k: as many points in every set, four terms a constraint.
KeySizes Dense(uint32_t k) {
  const uint32_t n = uint32_t{1} << k;
  KeySizes sizes;
  sizes.bases = {n, n, n, n, n};
  sizes.key_bytes = size_t{n} * (2 * 4 + 4 * 36 + 2 * 32);
  sizes.proof_bytes = size_t{n} * 32 * 4 + 4096;
  return sizes;
}

KeyPlanner PlannerFor(uint32_t k) {
  auto planner = KeyPlanner::Make(Dense(k), WorkspaceModel());
  EXPECT_OK(planner);
  return *std::move(planner);
}

// What a plan says that it takes is what its shapes take: nothing is left for a proof to find missing.
void ExpectBytesOf(const KeyPlan& plan, const KeySizes& sizes) {
  size_t tables = 0;
  size_t together = 0;
  size_t most = 0;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const auto workspace = WorkspaceModel().BytesFor(static_cast<BaseSetId>(set), plan.msms.shapes[set]);
    ASSERT_OK(workspace);
    tables += DeviceAllocationBytes(plan.msms.table_bytes(set));
    together += *workspace;
    most = std::max(most, *workspace);
    EXPECT_EQ(plan.msms.shapes[set].bases, sizes.bases[set]);
    EXPECT_TRUE(plan.msms.in_turn || plan.msms.shapes[set].chunks == 1);
  }
  EXPECT_EQ(plan.key_bytes, sizes.key_bytes + tables);
  EXPECT_EQ(plan.scratch_bytes, sizes.proof_bytes + (plan.msms.in_turn ? most : together));
  EXPECT_LE(plan.msms.result_bytes(), kResultBytesMax);
}

// The plan that a key gets, with the scratch that PlanMemory() found.
KeyPlan Loaded(const KeyPlanner& planner, const MemoryPlan& memory, size_t limit) {
  const auto plan = planner.Find([&](const KeyPlan& candidate) {
    return candidate.key_bytes + memory.bytes() <= limit && candidate.scratch_bytes <= memory.arena_bytes;
  });
  EXPECT_TRUE(plan.has_value());
  return plan.value_or(KeyPlan());
}

void ExpectRefused(const absl::Status& status, const KeyPlanner& planner, size_t limit) {
  const KeyPlan smallest = planner.Smallest();
  EXPECT_GT(smallest.key_bytes + smallest.scratch_bytes, limit);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(GetReason(status), ErrorReason::kOutOfMemory);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("together " + std::to_string(smallest.key_bytes + smallest.scratch_bytes)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the limit is " + std::to_string(limit)));
}

TEST(KeyPlanTest, OnAnEmptyCardEverythingIsResidentAndSeveralProofsAreInFlight) {
  for (const uint32_t k : {1U, 10U, 16U, 20U, 22U}) {
    SCOPED_TRACE(k);
    const KeyPlanner planner = PlannerFor(k);
    const auto memory = PlanMemory("cuda:0", planner, {.limit = kH200});
    ASSERT_OK(memory);

    EXPECT_EQ(memory->arenas, k <= 20 ? kArenasMax : 2);
    EXPECT_TRUE(Loaded(planner, *memory, kH200).msms.is_full());
  }
}

TEST(KeyPlanTest, WhereMemoryIsPlentyArenasHaveRoomForBatches) {
  for (const uint32_t k : {1U, 10U, 13U, 16U}) {
    SCOPED_TRACE(k);
    const KeyPlanner planner = PlannerFor(k);
    const KeyPlan& fastest = planner.Fastest();
    const auto memory = PlanMemory("cuda:0", planner, {.limit = kH200});
    ASSERT_OK(memory);
    EXPECT_GT(fastest.batch_max, 1U);
    EXPECT_GT(fastest.batch_scratch_bytes, fastest.scratch_bytes);
    EXPECT_GE(memory->arena_bytes, fastest.batch_scratch_bytes);
    EXPECT_GE(memory->arena_bytes_min, fastest.scratch_bytes);
  }
}

TEST(KeyPlanTest, BatchesTakeAnEighthOfTheMemoryAtMostAndNothingFromALaterKey) {
  const KeyPlanner small = PlannerFor(13);
  const KeyPlanner large = PlannerFor(20);
  int with_batches = 0;
  int without = 0;
  for (size_t limit = 64 * kMiB; limit < kH200; limit = limit * 5 / 4) {
    SCOPED_TRACE(limit);
    const auto memory = PlanMemory("cuda:0", small, {.limit = limit});
    if (!memory.ok()) continue;
    if (memory->arena_bytes == memory->arena_bytes_min) {
      ++without;
    } else {
      ++with_batches;
      EXPECT_LE(memory->bytes(), limit / 8);
    }
    const auto alone = PlanMemory("cuda:0", large, {.limit = limit});
    const auto after = PlanMemory("cuda:0", large,
                                  {.limit = limit,
                                   .resident_bytes = Loaded(small, *memory, limit).key_bytes,
                                   .arena_bytes = memory->arena_bytes_min,
                                   .batch_bytes = memory->batch_bytes,
                                   .key_bytes_min = small.Smallest().key_bytes});
    EXPECT_EQ(after.ok(), alone.ok());
    if (after.ok()) {
      EXPECT_GE(after->arena_bytes, after->arena_bytes_min);
    }
  }
  EXPECT_GT(with_batches, 0);
  EXPECT_GT(without, 0);
}

TEST(KeyPlanTest, LessRoomMeansASlowerPlanThatNeverPassesIt) {
  const KeyPlanner planner = PlannerFor(20);
  const KeyPlan& fastest = planner.Fastest();
  const KeyPlan& smallest = planner.Smallest();
  EXPECT_LT(smallest.key_bytes + smallest.scratch_bytes, fastest.key_bytes + fastest.scratch_bytes);
  double last = 0;
  for (size_t room = fastest.key_bytes + fastest.scratch_bytes;
       room >= smallest.key_bytes + smallest.scratch_bytes; room = room * 19 / 20) {
    SCOPED_TRACE(room);
    const auto plan = planner.Find(
        [&](const KeyPlan& candidate) { return candidate.key_bytes + candidate.scratch_bytes <= room; });
    ASSERT_TRUE(plan.has_value());
    EXPECT_LE(plan->key_bytes + plan->scratch_bytes, room);
    EXPECT_GE(plan->seconds, last);
    ExpectBytesOf(*plan, Dense(20));
    last = plan->seconds;
  }
}

TEST(KeyPlanTest, Dense20In4GiBHasFewerMultiples) {
  const KeyPlanner planner = PlannerFor(20);
  const auto memory = PlanMemory("cuda:0", planner, {.limit = 4 * kGiB});
  ASSERT_OK(memory);

  const KeyPlan plan = Loaded(planner, *memory, 4 * kGiB);
  EXPECT_EQ(memory->arenas, 1U);
  EXPECT_FALSE(plan.msms.is_full());
  EXPECT_LE(plan.key_bytes + memory->bytes(), 4 * kGiB);
  EXPECT_GE(plan.key_bytes + memory->bytes(), 3 * kGiB) << "room is not wasted";
}

TEST(KeyPlanTest, Dense20In1GiBSumsInChunksOneMsmAtATime) {
  const KeyPlanner planner = PlannerFor(20);
  const auto memory = PlanMemory("cuda:0", planner, {.limit = kGiB});
  ASSERT_OK(memory);

  const KeyPlan plan = Loaded(planner, *memory, kGiB);
  EXPECT_TRUE(plan.msms.in_turn);
  EXPECT_FALSE(plan.msms.is_full());
  EXPECT_GT(plan.msms.shape(BaseSetId::kH).chunks, 1U);
  EXPECT_LE(plan.key_bytes + memory->bytes(), kGiB);
  EXPECT_LT(plan.seconds, 3 * planner.Fastest().seconds);
}

TEST(KeyPlanTest, Dense20In256MiBIsRefusedWithTheBytes) {
  const KeyPlanner planner = PlannerFor(20);
  // Points, coefficients and vectors alone are more.
  EXPECT_GT(Dense(20).key_bytes + Dense(20).proof_bytes + (size_t{384} << 20), 256 * kMiB);
  ExpectRefused(PlanMemory("cuda:0", planner, {.limit = 256 * kMiB}).status(), planner, 256 * kMiB);
}

// Sizes and limits all over: refused with the bytes, or a plan within the limit that a proof finds room in,
// and that its key comes back with in its smallest form.
TEST(KeyPlanTest, WhateverTheSizeAndTheLimitAKeyIsRefusedOrItsProofsFit) {
  for (uint32_t k = 1; k <= 26; ++k) {
    const KeyPlanner planner = PlannerFor(k);
    const KeyPlan& smallest = planner.Smallest();
    int refused = 0;
    int held = 0;
    for (size_t limit = 256 << 10; limit < kH200; limit = limit * 5 / 4) {
      SCOPED_TRACE(testing::Message() << "2^" << k << " in " << limit);
      const auto memory = PlanMemory("cuda:0", planner, {.limit = limit});
      if (!memory.ok()) {
        ExpectRefused(memory.status(), planner, limit);
        ++refused;
        continue;
      }
      ++held;
      const KeyPlan plan = Loaded(planner, *memory, limit);
      EXPECT_LE(plan.key_bytes + memory->bytes(), limit);
      EXPECT_LE(plan.scratch_bytes, memory->arena_bytes);
      ExpectBytesOf(plan, Dense(k));
      EXPECT_LE(smallest.scratch_bytes, memory->arena_bytes);
      EXPECT_LE(smallest.key_bytes + memory->bytes(), limit);
    }
    EXPECT_GT(held, 0) << k;
    EXPECT_GT(refused, 0) << k;
  }
}

TEST(KeyPlanTest, TheScratchOfAFurtherKeyLeavesRoomForAKnownOne) {
  const KeyPlanner known = PlannerFor(20);
  const KeyPlanner further = PlannerFor(18);
  const size_t limit = kGiB;
  const auto first = PlanMemory("cuda:0", known, {.limit = limit});
  ASSERT_OK(first);

  const auto memory = PlanMemory("cuda:0", further,
                                 {.limit = limit,
                                  .resident_bytes = Loaded(known, *first, limit).key_bytes,
                                  .arena_bytes = first->arena_bytes,
                                  .key_bytes_min = known.Smallest().key_bytes});
  ASSERT_OK(memory);
  EXPECT_LE(known.Smallest().key_bytes + memory->bytes(), limit);
  EXPECT_LE(Loaded(further, *memory, limit).key_bytes + memory->bytes(), limit);

  // One that needs more scratch than that is refused, and told why.
  const KeyPlanner larger = PlannerFor(21);
  const size_t alone = larger.Smallest().key_bytes + larger.Smallest().scratch_bytes;
  const absl::Status refused =
      PlanMemory("cuda:0", larger, {.limit = alone, .key_bytes_min = larger.Smallest().key_bytes + 1})
          .status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("another key here needs"));
}

TEST(KeyPlanTest, ASmallKeyBesideLargeOnesKeepsTheScratchAndTakesWhatIsLeft) {
  const KeyPlanner planner = PlannerFor(16);
  const size_t limit = 8 * kGiB;
  const auto memory =
      PlanMemory("cuda:0", planner, {.limit = limit, .resident_bytes = 6 * kGiB, .arena_bytes = kGiB});
  ASSERT_OK(memory);
  EXPECT_EQ(memory->arena_bytes, kGiB);
  EXPECT_EQ(memory->arenas, 1U) << "a second one would not fit";

  const auto roomy =
      PlanMemory("cuda:0", planner, {.limit = limit, .resident_bytes = 2 * kGiB, .arena_bytes = kGiB});
  ASSERT_OK(roomy);
  EXPECT_EQ(roomy->arenas, 2U);
}

TEST(KeyPlanTest, AKeyThatFitsOnlyInThePlaceOfOthersIsNotRefused) {
  const KeyPlanner planner = PlannerFor(18);
  const auto memory =
      PlanMemory("cuda:0", planner,
                 {.limit = 4 * kGiB, .resident_bytes = 4 * kGiB - 600 * kMiB, .arena_bytes = 600 * kMiB});
  ASSERT_OK(memory);
  EXPECT_LE(planner.Smallest().key_bytes + memory->bytes(), 4 * kGiB);
}

}  // namespace
}  // namespace proofmill::engine
