// WHIR beside Groth16 on one GPU: one budget for both, and proofs that stay those of the CPU whatever gives
// way. Without a GPU every test is skipped, and says so.

#include "engine/backend/whir_backend.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "engine/whir/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/least_memory.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/whir/cases.h"

namespace proofmill::engine {
namespace {

class WhirBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CountCudaDevices().ok()) GTEST_SKIP() << "skipped: no GPU";
  }

  // 2^16 values: f and w alone are 2 MiB on the device.
  static WhirCase LargeCase(uint64_t seed) {
    WhirParameters p = SmallStrict();
    p.num_variables = 16;
    p.num_claims = 2;
    return MakeWhirCase(p, seed);
  }
  static std::unique_ptr<WhirDevice> Load(CudaBackend& gpu, const WhirCase& made) {
    auto device = gpu.whir()->LoadWhir(std::make_shared<const WhirConfig>(made.config));
    EXPECT_OK(device);
    return *std::move(device);
  }
};

TEST_F(WhirBackendTest, ItsMemoryCountsAsThatOfKeys) {
  const auto gpu = BackendWithLimit(0);
  const WhirCase made = LargeCase(1);
  const uint64_t before = gpu->stats().key_bytes;
  {
    const std::unique_ptr<WhirDevice> device = Load(*gpu, made);
    EXPECT_GT(device->device_bytes(), size_t{2} << 20);
    EXPECT_EQ(gpu->stats().key_bytes - before, device->device_bytes());
    const uint64_t allocations = gpu->stats().allocations;
    for (int i = 0; i < 2; ++i) {
      const auto proof = device->Prove(made.polynomial, made.claims, {});
      ASSERT_OK(proof);
      EXPECT_EQ(*proof, made.proof);
    }
    EXPECT_EQ(gpu->stats().allocations, allocations) << "a proof takes no memory";
  }
  EXPECT_EQ(gpu->stats().key_bytes, before);
}

TEST_F(WhirBackendTest, EvaluatesAsTheCpuDoes) {
  const auto gpu = BackendWithLimit(0);
  for (const uint32_t degree : {4u, 5u}) {
    WhirParameters p = SmallStrict();
    p.extension_degree = degree;
    p.num_variables = 11;
    p.num_claims = 40;  // more than one table of weights holds
    const WhirCase made = MakeWhirCase(p);
    const std::unique_ptr<WhirDevice> device = Load(*gpu, made);
    WhirElements expected;
    for (const WhirClaim& claim : made.claims) {
      expected.insert(expected.end(), claim.value.begin(), claim.value.end());
    }
    const auto values = device->Evaluate(made.polynomial, made.claims);
    ASSERT_OK(values);
    EXPECT_EQ(*values, expected);
    const auto proof = device->Prove(made.polynomial, made.claims, {});
    ASSERT_OK(proof);
    EXPECT_EQ(*proof, made.proof);
  }
}

TEST_F(WhirBackendTest, TellsTheStagesOfAProof) {
  class Names final : public StageSink {
   public:
    void OnStage(std::string_view stage, std::chrono::nanoseconds duration) override {
      EXPECT_GE(duration.count(), 0);
      names.emplace_back(stage);
    }
    std::vector<std::string> names;
  } sink;
  const auto gpu = BackendWithLimit(0);
  const WhirCase made = LargeCase(2);
  const std::unique_ptr<WhirDevice> device = Load(*gpu, made);
  ASSERT_OK(device->Prove(made.polynomial, made.claims, {.stages = &sink}));
  std::vector<std::string> expected = {"upload", "commit"};
  for (size_t i = 0; i < made.config.rounds.size(); ++i) expected.push_back(WhirRoundStage(i));
  expected.emplace_back("open");
  EXPECT_EQ(sink.names, expected);
}

TEST_F(WhirBackendTest, WhatDoesNotFitAloneIsRefusedWithItsBytes) {
  const auto gpu = BackendWithLimit(size_t{1} << 20);
  const WhirCase made = LargeCase(3);
  const absl::Status status = gpu->whir()->LoadWhir(std::make_shared<const WhirConfig>(made.config)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(GetReason(status), ErrorReason::kOutOfMemory);
  EXPECT_EQ(gpu->stats().key_bytes, 0u);
}

TEST_F(WhirBackendTest, WhereBothDoNotFitTheyTakeTurnsAndEveryProofIsGood) {
  const Bench bench = BenchOfSynth(14, SynthProfile::kDense);
  const WhirCase made = LargeCase(4);
  const size_t whir_bytes = Load(*BackendWithLimit(0), made)->device_bytes();
  const size_t key_bytes = LeastMemoryFor(bench.key);
  // A little less than both need together.
  const auto gpu = BackendWithLimit(whir_bytes + key_bytes - std::min(whir_bytes, key_bytes) / 4);
  const std::unique_ptr<WhirDevice> device = Load(*gpu, made);
  const auto key = gpu->LoadKey(bench.key);
  ASSERT_OK(key);

  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(Prove(*gpu, **key, bench.span()));
    const auto proof = device->Prove(made.polynomial, made.claims, {});
    ASSERT_OK(proof);
    EXPECT_EQ(*proof, made.proof);
  }
  EXPECT_GE(gpu->stats().key_evictions, 4u);
  EXPECT_GE(gpu->stats().key_reloads, 4u);

  // From several threads at once.
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 6; ++n) {
        if (i % 2 == 0) {
          good += Prove(*gpu, **key, bench.span()).ok() ? 1 : 0;
        } else {
          const auto proof = device->Prove(made.polynomial, made.claims, {});
          good += proof.ok() && *proof == made.proof ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 24);
}

TEST_F(WhirBackendTest, WhicheverCallFailsAProofFailsCleanlyAndTheNextOneIsGood) {
  const auto gpu = BackendWithLimit(0);
  const WhirCase made = MakeWhirCase(SmallStrict());
  const std::unique_ptr<WhirDevice> device = Load(*gpu, made);
  ASSERT_OK(device->Prove(made.polynomial, made.claims, {}));
  const uint64_t start = gpu->calls().count();
  ASSERT_OK(device->Prove(made.polynomial, made.claims, {}));
  const uint64_t calls = gpu->calls().count() - start;
  for (uint64_t n = 0; n < calls; ++n) {
    SCOPED_TRACE(n);
    gpu->calls().FailCall(n, cudaErrorMemoryAllocation);
    EXPECT_FALSE(device->Prove(made.polynomial, made.claims, {}).ok());
    const auto proof = device->Prove(made.polynomial, made.claims, {});
    ASSERT_OK(proof);
    EXPECT_EQ(*proof, made.proof);
  }
}

}  // namespace
}  // namespace proofmill::engine
