#include "engine/backend/cuda/msm_plan.h"

#include <algorithm>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/workspace_model.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

TEST(MsmPlanTest, TheFirstWayHasEveryMultipleResidentAndTheMeasuredWindow) {
  for (const uint32_t bases : {1U, 100U, 5000U, 1U << 16, 1U << 20, 1U << 24}) {
    SCOPED_TRACE(bases);
    const auto options = MsmOptions(BaseSetId::kA, bases, WorkspaceModel());
    ASSERT_OK(options);
    EXPECT_EQ(options->front().shape.bases, bases);
    EXPECT_EQ(options->front().shape.window_bits, WindowBits(bases));
    EXPECT_EQ(options->front().shape.sets(), 1U);
  }
}

// Of 2^log2 bases in every set, in the fastest way.
MsmPlan FastestPlan(uint32_t log2) {
  MsmPlan plan;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const auto options = MsmOptions(static_cast<BaseSetId>(set), uint32_t{1} << log2, WorkspaceModel());
    EXPECT_OK(options);
    plan.shapes[set] = options->front().shape;
  }
  return plan;
}

TEST(MsmPlanTest, TheSmallerACircuitTheMoreOfItsProofsAreMadeTogether) {
  uint32_t last = kBatchMax;
  for (uint32_t log2 = 1; log2 <= 20; ++log2) {
    SCOPED_TRACE(log2);
    const MsmPlan plan = FastestPlan(log2);
    const uint32_t proofs = plan.BatchMax();
    EXPECT_LE(proofs, last);
    last = proofs;
    const MsmPlan batch = plan.ForBatch(proofs);
    EXPECT_EQ(batch.batch(), proofs);
    for (const kernels::MsmShape& shape : batch.shapes) {
      if (proofs > 1) {
        EXPECT_LE(shape.entries_max(), kBatchEntriesMax);
        EXPECT_TRUE(shape.is_padded()) << "the host would have to learn the length of its list";
      }
      EXPECT_LT(shape.buckets(), uint32_t{1} << 31);
    }
  }
  EXPECT_EQ(FastestPlan(13).BatchMax(), kBatchMax);
  EXPECT_EQ(last, 1U) << "large circuits fill a device alone";
}

TEST(MsmPlanTest, WhereMemoryIsShortThereAreNoBatches) {
  MsmPlan plan = FastestPlan(10);
  plan.in_turn = true;
  EXPECT_EQ(plan.BatchMax(), 1U);
  plan.in_turn = false;
  plan.shapes[3].tables = 1;
  EXPECT_EQ(plan.BatchMax(), 1U);
}

TEST(MsmPlanTest, EachFurtherWayTakesLessMemoryAndMoreTime) {
  for (const BaseSetId id : {BaseSetId::kH, BaseSetId::kB2}) {
    const auto all = MsmOptions(id, 1 << 20, WorkspaceModel());
    ASSERT_OK(all);
    const std::vector<MsmOption> options = SideBySideOptions(*all);
    ASSERT_GE(options.size(), 4U);
    EXPECT_EQ(options.front().seconds, all->front().seconds);
    for (size_t i = 0; i < options.size(); ++i) {
      const MsmOption& option = options[i];
      EXPECT_EQ(option.shape.chunks, 1U);
      EXPECT_GE(option.shape.tables * option.shape.sets(), option.shape.windows());
      EXPECT_LE(option.shape.sets(), kernels::kMsmSetsMax);
      EXPECT_GE(option.shape.window_bits, kernels::kMsmWindowBitsMin);
      if (i == 0) continue;
      EXPECT_LT(option.bytes(), options[i - 1].bytes());
      EXPECT_GT(option.seconds, options[i - 1].seconds);
    }
    EXPECT_LT(options.back().bytes(), options.front().bytes() / 2);
  }
}

TEST(MsmPlanTest, AWorkspaceOfAnySizeThatSomeChunksFitIsKeptTo) {
  for (const BaseSetId id : {BaseSetId::kH, BaseSetId::kB2}) {
    const auto all = MsmOptions(id, 1 << 20, WorkspaceModel());
    ASSERT_OK(all);
    uint32_t chunks_most = 1;
    for (size_t limit = size_t{1} << 30; limit >= size_t{48} << 20; limit = limit * 3 / 4) {
      SCOPED_TRACE(limit);
      const std::vector<MsmOption> options = InTurnOptions(*all, limit);
      ASSERT_FALSE(options.empty());
      EXPECT_EQ(options.back().shape.tables, 1U);
      for (size_t i = 0; i < options.size(); ++i) {
        EXPECT_LE(options[i].workspace_bytes, limit);
        chunks_most = std::max(chunks_most, options[i].shape.chunks);
        if (i == 0) continue;
        EXPECT_LT(options[i].table_bytes, options[i - 1].table_bytes);
        EXPECT_GE(options[i].seconds, options[i - 1].seconds);
      }
    }
    EXPECT_GE(chunks_most, 8U);
    EXPECT_TRUE(InTurnOptions(*all, 1 << 20).empty());
  }
}

TEST(MsmPlanTest, ChunksCoverEveryBaseOnce) {
  for (const uint32_t bases : {0U, 1U, 5U, 255U, 256U, 1000U, 1U << 20}) {
    for (const uint32_t chunks : {1U, 2U, 3U, 8U, 32U}) {
      const kernels::MsmShape shape{.bases = bases, .window_bits = 8, .chunks = chunks};
      uint32_t sum = 0;
      for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        EXPECT_LE(shape.bases_of(chunk), shape.chunk_bases());
        if (shape.bases_of(chunk) != 0) {
          EXPECT_EQ(sum, chunk * shape.chunk_bases());
        }
        sum += shape.bases_of(chunk);
      }
      EXPECT_EQ(sum, bases);
      EXPECT_EQ(shape.bases_of(chunks), 0U);
    }
  }
}

TEST(MsmPlanTest, WhateverTheWindowAndTheMultiplesThePartsFitAndHaveTheirWeights) {
  for (uint32_t window = kernels::kMsmWindowBitsMin; window <= 24; ++window) {
    kernels::MsmShape shape{.bases = 1, .window_bits = window};
    for (shape.tables = 1; shape.tables <= shape.windows(); ++shape.tables) {
      SCOPED_TRACE(testing::Message() << window << " bits, " << shape.tables << " multiples");
      EXPECT_LE(shape.parts(), kernels::kMsmPartsMax);
      const uint32_t bits = shape.sets() == 1 ? window - 1 : window * shape.sets();
      EXPECT_GE(shape.parts() * shape.part_bits(), bits);
      EXPECT_LT((shape.parts() - 1) * shape.part_bits(), bits);
    }
  }
}

TEST(MsmPlanTest, InG2AffineAdditionsAreGivenUpForMemory) {
  const auto all = MsmOptions(BaseSetId::kB2, 1 << 20, WorkspaceModel());
  ASSERT_OK(all);
  const std::vector<MsmOption> options = SideBySideOptions(*all);
  EXPECT_NE(options.front().shape.affine, kernels::MsmAffine::kNever);
  EXPECT_EQ(options.back().shape.affine, kernels::MsmAffine::kNever);
}

TEST(MsmPlanTest, DigitsAndMultiplesCanBeNumberedHoweverManyPointsThereAre) {
  for (uint64_t bases = uint64_t{1} << 26; bases < (uint64_t{1} << 32); bases = bases * 5 / 4) {
    SCOPED_TRACE(bases);
    const auto options = MsmOptions(BaseSetId::kH, static_cast<uint32_t>(bases), WorkspaceModel());
    if (!options.ok()) {
      EXPECT_GE(bases, uint64_t{1} << 31);
      EXPECT_TRUE(absl::IsResourceExhausted(options.status()));
      EXPECT_EQ(GetReason(options.status()), ErrorReason::kOutOfMemory);
      EXPECT_NE(options.status().message().find(std::to_string(bases)), absl::string_view::npos);
      continue;
    }
    for (const MsmOption& option : *options) {
      EXPECT_LT(option.shape.entries_max(), uint64_t{1} << 32);
      EXPECT_LT(option.shape.tables * bases, uint64_t{1} << 31);
    }
  }
}

TEST(MsmPlanTest, AnEmptySetHasNoTables) {
  const auto options = MsmOptions(BaseSetId::kB2, 0, WorkspaceModel());
  ASSERT_OK(options);
  for (const MsmOption& option : *options) EXPECT_EQ(option.table_bytes, 0U);
}

TEST(MsmPlanTest, AnErrorOfTheDeviceIsPassedOn) {
  WorkspaceModel broken;
  broken.error = absl::InternalError("device");
  EXPECT_TRUE(absl::IsInternal(MsmOptions(BaseSetId::kA, 10, broken).status()));
}

TEST(MsmPlanTest, WindowsStayWithinTheirBounds) {
  uint32_t last = 0;
  for (uint64_t bases = 1; bases < (uint64_t{1} << 28); bases *= 2) {
    const uint32_t window = WindowBits(static_cast<uint32_t>(bases));
    EXPECT_GE(window, kernels::kMsmWindowBitsMin);
    EXPECT_LE(window, 24U);
    EXPECT_GE(window, last);
    last = window;
  }
}

TEST(MsmPlanTest, AllocationsAreCountedAsTheDeviceMakesThem) {
  EXPECT_EQ(DeviceAllocationBytes(0), 0U);
  EXPECT_EQ(DeviceAllocationBytes(1), 512U);
  EXPECT_EQ(DeviceAllocationBytes(512), 512U);
  EXPECT_EQ(DeviceAllocationBytes(1 << 20), size_t{1} << 20);
  EXPECT_EQ(DeviceAllocationBytes((1 << 20) + 1), size_t{2} << 20);
  EXPECT_EQ(DeviceAllocationBytes((size_t{64} << 20) + 1), size_t{66} << 20);
}

}  // namespace
}  // namespace proofmill::engine
