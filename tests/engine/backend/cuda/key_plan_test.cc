#include "engine/backend/cuda/key_plan.h"

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
  sizes.key_bytes = size_t{n} * (2 * 4 + 4 * 36 + 48);
  sizes.proof_bytes = size_t{n} * 32 * 5;
  return sizes;
}

KeyPlanner PlannerFor(uint32_t k, uint64_t entries_max = UINT64_MAX) {
  WorkspaceModel model;
  model.entries_max = entries_max;
  auto planner = KeyPlanner::Make(Dense(k), model);
  EXPECT_OK(planner);
  return *std::move(planner);
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

TEST(KeyPlanTest, LessRoomMeansASmallerPlanThatNeverPassesIt) {
  const KeyPlanner planner = PlannerFor(20);
  const KeyPlan fastest = planner.Fastest();
  const KeyPlan smallest = planner.Smallest();
  EXPECT_LT(smallest.key_bytes + smallest.scratch_bytes, fastest.key_bytes + fastest.scratch_bytes);
  size_t last = SIZE_MAX;
  for (size_t room = fastest.key_bytes + fastest.scratch_bytes;
       room >= smallest.key_bytes + smallest.scratch_bytes; room = room * 19 / 20) {
    const auto plan = planner.Find(
        [&](const KeyPlan& candidate) { return candidate.key_bytes + candidate.scratch_bytes <= room; });
    ASSERT_TRUE(plan.has_value()) << room;
    EXPECT_LE(plan->key_bytes + plan->scratch_bytes, room);
    EXPECT_LE(plan->key_bytes + plan->scratch_bytes, last);
    last = plan->key_bytes + plan->scratch_bytes;
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

TEST(KeyPlanTest, Dense20In1GiBIsRefusedWithTheBytesUnlessDigitsComeInChunks) {
  const KeyPlanner whole = PlannerFor(20);
  ExpectRefused(PlanMemory("cuda:0", whole, {.limit = kGiB}).status(), whole, kGiB);

  const KeyPlanner chunked = PlannerFor(20, uint64_t{1} << 20);
  const auto memory = PlanMemory("cuda:0", chunked, {.limit = kGiB});
  ASSERT_OK(memory);
  const KeyPlan plan = Loaded(chunked, *memory, kGiB);
  EXPECT_FALSE(plan.msms.is_full());
  EXPECT_LE(plan.key_bytes + memory->bytes(), kGiB);
}

TEST(KeyPlanTest, Dense20In256MiBIsRefusedWithTheBytes) {
  for (const uint64_t entries_max : {uint64_t{1} << 20, UINT64_MAX}) {
    const KeyPlanner planner = PlannerFor(20, entries_max);
    ExpectRefused(PlanMemory("cuda:0", planner, {.limit = 256 * kMiB}).status(), planner, 256 * kMiB);
  }
}

TEST(KeyPlanTest, WhateverTheLimitAKeyIsRefusedOrItsProofsFit) {
  const KeyPlanner planner = PlannerFor(18);
  for (size_t limit = 64 * kMiB; limit < 8 * kGiB; limit = limit * 11 / 10) {
    SCOPED_TRACE(limit);
    const auto memory = PlanMemory("cuda:0", planner, {.limit = limit});
    if (!memory.ok()) {
      ExpectRefused(memory.status(), planner, limit);
      continue;
    }
    const KeyPlan plan = Loaded(planner, *memory, limit);
    EXPECT_LE(plan.key_bytes + memory->bytes(), limit);
    EXPECT_LE(plan.scratch_bytes, memory->arena_bytes);
    // It can come back in its smallest form after it had to give way.
    EXPECT_LE(planner.Smallest().scratch_bytes, memory->arena_bytes);
    EXPECT_LE(planner.Smallest().key_bytes + memory->bytes(), limit);
  }
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
