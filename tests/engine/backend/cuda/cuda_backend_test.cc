// The CUDA backend against the CPU backend. Without a GPU every test is skipped, and says so.

#include "engine/backend/cuda/cuda_backend.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cuda/key_plan.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/cuda_backend_fixture.h"
#include "tests/engine/backend/cuda/least_memory.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

TEST_F(CudaBackendTest, EdgeCircuitsGiveTheProofsOfTheCpu) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    SCOPED_TRACE(circuit.name);
    ExpectTheSameProof(BenchOf(circuit));
  }
}

TEST_F(CudaBackendTest, RealCircuitsGiveTheProofsOfTheCpu) {
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    ExpectTheSameProof(BenchOfCase(CasePath(name, "")));
  }
}

TEST_F(CudaBackendTest, ProofsOfManyKeysInOneArenaVerifyWithFreshBlinding) {
  std::vector<Bench> benches;
  std::vector<std::unique_ptr<ResidentKey>> keys;
  for (const TestCircuit& circuit : EdgeCircuits()) {
    benches.push_back(BenchOf(circuit));
    auto resident = gpu_->LoadKey(benches.back().key);
    ASSERT_OK(resident);
    keys.push_back(*std::move(resident));
  }
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < keys.size(); ++i) EXPECT_OK(Prove(*gpu_, *keys[i], benches[i].span()));
  }
}

TEST_F(CudaBackendTest, AProofMovesItsWitnessUpAndFivePointsDownAndAllocatesNothing) {
  const Bench bench = BenchOf(WiresFarAboveDomain());
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  const DeviceUsage before = gpu_->stats();

  for (int i = 0; i < 10; ++i) ASSERT_OK(Prove(*gpu_, **resident, bench.span()));

  const DeviceUsage after = gpu_->stats();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.host_to_device_bytes - before.host_to_device_bytes, size_t{10} * 32 * bench.witness.size());
  EXPECT_LE(after.device_to_host_bytes - before.device_to_host_bytes, 10 * 4096U);
}

TEST_F(CudaBackendTest, NothingOfAProofStaysInTheArena) {
  const Bench bench = BenchOf(Squarings(6));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  ASSERT_OK(Prove(*gpu_, **resident, bench.span()));

  ExpectNoTrace(*gpu_);
}

TEST_F(CudaBackendTest, ACancelledProofStopsAndTheNextOneIsGood) {
  const Bench bench = BenchOf(Squarings(6));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  CancellationToken before;
  before.Cancel();
  ComputeContext never_begun;
  never_begun.cancel = &before;
  CancellationToken midway;
  ComputeContext stopped;
  stopped.cancel = &midway;
  stopped.on_witness_sums = [&](const WitnessSums&) { midway.Cancel(); };

  EXPECT_TRUE(absl::IsCancelled(gpu_->ComputeSums(**resident, bench.span(), never_begun).status()));
  EXPECT_TRUE(absl::IsCancelled(gpu_->ComputeSums(**resident, bench.span(), stopped).status()));
  ExpectNoTrace(*gpu_);
  EXPECT_OK(Prove(*gpu_, **resident, bench.span()));
}

TEST_F(CudaBackendTest, WhicheverCallFailsTheProofFailsCleanlyAndTheNextOneIsGood) {
  const Bench bench = BenchOf(Squarings(6));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  CheckFaults(*gpu_, **resident, bench, 1);
}

// The first proof of a key in an arena records its graphs.
TEST_F(CudaBackendTest, WhicheverCallOfAFirstProofFailsTheNextOneIsGood) {
  const Bench bench = BenchOf(Squarings(6));
  const auto expected = Prove(*bench.backend, *bench.resident, bench.span(), FixedBlinding());
  ASSERT_OK(expected);
  uint64_t calls = 1;
  for (uint64_t n = 0; n < calls; ++n) {
    SCOPED_TRACE(n);
    auto resident = gpu_->LoadKey(bench.key);
    ASSERT_OK(resident);
    if (n == 0) {
      const uint64_t start = gpu_->calls().count();
      ASSERT_OK(Prove(*gpu_, **resident, bench.span()));
      calls = gpu_->calls().count() - start;
      resident = gpu_->LoadKey(bench.key);
      ASSERT_OK(resident);
    }
    gpu_->calls().FailCall(n, cudaErrorMemoryAllocation);
    const absl::Status failed = Prove(*gpu_, **resident, bench.span()).status();
    EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
    ExpectNoTrace(*gpu_);
    const auto got = Prove(*gpu_, **resident, bench.span(), FixedBlinding());
    ASSERT_OK(got);
    ASSERT_EQ(std::memcmp(&*got, &*expected, sizeof(Groth16Proof)), 0);
  }
  EXPECT_GT(calls, 20U);
}

// Two keys by turns in one arena, which a third, larger one moves in between.
TEST_F(CudaBackendTest, ASmallKeySumsByGraphsWhateverElseItsArenaDoes) {
  const std::array<Bench, 3> benches = {BenchOf(Squarings(6)), BenchOf(WiresFarAboveDomain()),
                                        BenchOfSynth(13, SynthProfile::kBits)};
  std::vector<std::unique_ptr<ResidentKey>> keys;
  std::vector<Groth16Proof> expected;
  for (const Bench& bench : benches) {
    auto resident = gpu_->LoadKey(bench.key);
    ASSERT_OK(resident);
    keys.push_back(*std::move(resident));
    const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), FixedBlinding());
    ASSERT_OK(proof);
    expected.push_back(*proof);
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < keys.size(); ++i) {
        const uint64_t launches = gpu_->calls().graph_launches();
        const auto got = Prove(*gpu_, *keys[i], benches[i].span(), FixedBlinding());
        ASSERT_OK(got);
        EXPECT_EQ(std::memcmp(&*got, &expected[i], sizeof(Groth16Proof)), 0) << i;
        EXPECT_EQ(gpu_->calls().graph_launches() - launches, 5U) << i;
      }
    }
  }
}

// Too long a list of digits: the host looks at it.
TEST_F(CudaBackendTest, TheLongListsOfALargeKeyAreSummedWithoutGraphs) {
  const Bench bench = BenchOfSynth(17, SynthProfile::kDense);
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  ASSERT_OK(Prove(*gpu_, **resident, bench.span()));
  EXPECT_LT(gpu_->calls().graph_launches(), 5U);
}

TEST_F(CudaBackendTest, WhicheverCallFailsALoadLeavesNothingBehind) {
  const Bench bench = BenchOf(Squarings(6));
  ASSERT_OK(gpu_->LoadKey(bench.key));  // sizes the arena
  const size_t bytes = gpu_->stats().key_bytes;
  const uint64_t start = gpu_->calls().count();
  ASSERT_OK(gpu_->LoadKey(bench.key));
  const uint64_t calls_a_load = gpu_->calls().count() - start;

  for (uint64_t n = 0; n < calls_a_load; ++n) {
    SCOPED_TRACE(n);
    gpu_->calls().FailCall(n, cudaErrorMemoryAllocation);
    EXPECT_FALSE(gpu_->LoadKey(bench.key).ok());
    EXPECT_EQ(gpu_->stats().key_bytes, bytes);
  }
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  EXPECT_OK(Prove(*gpu_, **resident, bench.span()));
}

// From room for everything down to a refusal: several proofs in flight, fewer multiples, one MSM at a time,
// chunks.
TEST_F(CudaBackendTest, InEverLessMemoryProofsAreTheSameUntilTheKeyIsRefused) {
  for (const SynthProfile profile : {SynthProfile::kDense, SynthProfile::kBits}) {
    const Bench bench = BenchOfSynth(14, profile);
    const auto expected = Prove(*bench.backend, *bench.resident, bench.span(), FixedBlinding());
    ASSERT_OK(expected);
    ASSERT_OK(gpu_->LoadKey(bench.key));
    const size_t least = LeastMemoryFor(bench.key);
    int side_by_side = 0;
    int in_turn = 0;
    int in_chunks = 0;
    for (size_t limit = gpu_->stats().scratch_bytes + (size_t{256} << 20); limit >= least;
         limit = limit * 7 / 8) {
      const auto limited = BackendWithLimit(limit);
      auto resident = limited->LoadKey(bench.key);
      ASSERT_OK(resident) << limit;
      const std::string plan = limited->DescribePlan(**resident);
      SCOPED_TRACE(plan);
      CheckProof(*limited, **resident, bench, *expected);
      const bool turns = plan.find("one MSM at a time") != std::string::npos;
      ++(turns ? in_turn : side_by_side);
      in_chunks += plan.find("chunks") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(side_by_side, 0);
    EXPECT_GT(in_turn, 0);
    EXPECT_GT(in_chunks, 0);

    const size_t too_little = least - (size_t{64} << 10);
    const absl::Status refused = BackendWithLimit(too_little)->LoadKey(bench.key).status();
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_NE(refused.message().find(std::to_string(too_little)), std::string::npos) << refused;
  }
}

TEST_F(CudaBackendTest, WithTheBytesThatARefusalNamesProofsAreThoseOfTheCpu) {
  for (const SynthProfile profile : {SynthProfile::kDense, SynthProfile::kBits}) {
    const Bench bench = BenchOfSynth(13, profile);
    const auto expected = Prove(*bench.backend, *bench.resident, bench.span(), FixedBlinding());
    ASSERT_OK(expected);
    const auto limited = BackendWithLimit(LeastMemoryFor(bench.key));
    auto resident = limited->LoadKey(bench.key);
    ASSERT_OK(resident);
    SCOPED_TRACE(limited->DescribePlan(**resident));
    ASSERT_NE(limited->DescribePlan(**resident).find("chunks"), std::string::npos);
    for (int i = 0; i < 3; ++i) CheckProof(*limited, **resident, bench, *expected);
    ExpectNoTrace(*limited);
  }
}

TEST_F(CudaBackendTest, InTheLeastMemoryFaultsAndCancellationLeaveNothingBehind) {
  for (const uint32_t log2_domain : {4U, 11U}) {
    const Bench bench = BenchOfSynth(log2_domain, SynthProfile::kDense);
    const auto limited = BackendWithLimit(LeastMemoryFor(bench.key));
    auto resident = limited->LoadKey(bench.key);
    ASSERT_OK(resident);
    SCOPED_TRACE(limited->DescribePlan(**resident));
    CheckFaults(*limited, **resident, bench, log2_domain == 4 ? 1 : 5);

    CancellationToken midway;
    ComputeContext stopped;
    stopped.cancel = &midway;
    stopped.on_witness_sums = [&](const WitnessSums&) { midway.Cancel(); };
    EXPECT_TRUE(absl::IsCancelled(limited->ComputeSums(**resident, bench.span(), stopped).status()));
    ExpectNoTrace(*limited);
    EXPECT_OK(Prove(*limited, **resident, bench.span()));
  }
}

TEST_F(CudaBackendTest, KeysThatDoNotFitTogetherTakeTurnsAndEveryProofIsGood) {
  const Bench bench = BenchOfSynth(14, SynthProfile::kDense);
  size_t limit = 0;
  {
    auto resident = gpu_->LoadKey(bench.key);
    ASSERT_OK(resident);
    const std::string plan = gpu_->DescribePlan(**resident);
    constexpr char kBefore[] = "scratch of a proof ";
    const size_t at = plan.find(kBefore);
    ASSERT_NE(at, std::string::npos) << plan;
    const size_t scratch = std::strtoull(plan.c_str() + at + sizeof(kBefore) - 1, nullptr, 10);
    limit = gpu_->stats().key_bytes + scratch;
  }
  auto limited = MakeCudaBackend({.device = 0, .device_memory_limit = limit});
  ASSERT_OK(limited);
  std::vector<std::unique_ptr<ResidentKey>> keys;
  for (int i = 0; i < 40; ++i) {
    auto resident = (*limited)->LoadKey(bench.key);
    ASSERT_OK(resident) << i;
    keys.push_back(*std::move(resident));
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& key : keys) {
      ASSERT_OK(Prove(**limited, *key, bench.span()));
      const DeviceUsage stats = (*limited)->stats();
      ASSERT_LE(stats.key_bytes + stats.scratch_bytes, limit);
    }
  }

  const DeviceUsage stats = (*limited)->stats();
  EXPECT_GT(stats.key_evictions, keys.size());
  EXPECT_GT(stats.key_reloads, keys.size());
  EXPECT_FALSE((*limited)->TakeKeyEvents().empty());
  keys.clear();
  EXPECT_EQ((*limited)->stats().key_bytes, 0U);
}

// More threads than arenas: the same bytes as one after the other, and nothing is taken for it.
TEST_F(CudaBackendTest, ProofsInFlightTogetherAreThoseOfTheCpu) {
  const Bench first = BenchOf(Squarings(6));
  const Bench second = BenchOf(WiresFarAboveDomain());
  std::vector<std::unique_ptr<ResidentKey>> keys;
  std::vector<Groth16Proof> expected;
  for (const Bench* bench : {&first, &second}) {
    auto resident = gpu_->LoadKey(bench->key);
    ASSERT_OK(resident);
    keys.push_back(*std::move(resident));
    const auto proof = Prove(*bench->backend, *bench->resident, bench->span(), FixedBlinding());
    ASSERT_OK(proof);
    expected.push_back(*proof);
  }
  const uint64_t allocations = gpu_->stats().allocations;

  std::vector<std::thread> threads;
  for (size_t t = 0; t < kArenasMax + 2; ++t) {
    threads.emplace_back([&, t] {
      const Bench& bench = t % 2 == 0 ? first : second;
      for (int i = 0; i < 50; ++i) {
        const auto proof = Prove(*gpu_, *keys[t % 2], bench.span(), FixedBlinding());
        ASSERT_OK(proof);
        ASSERT_EQ(std::memcmp(&*proof, &expected[t % 2], sizeof(Groth16Proof)), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(gpu_->stats().allocations, allocations);
}

}  // namespace
}  // namespace proofmill::engine
