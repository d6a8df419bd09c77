// The CUDA backend against the CPU backend. Without a GPU every test is skipped, and says so.

#include "engine/backend/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/synth.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;

class CudaBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto count = CountCudaDevices();
    if (!count.ok()) GTEST_SKIP() << "skipped: no GPU";
    auto backend = MakeCudaBackend();
    ASSERT_OK(backend);
    gpu_ = *std::move(backend);
  }

  static ProveOptions FixedBlinding() {
    ProveOptions options;
    options.fixed_blinding = Blinding{-Fr::FromUint64(2), Fr::FromUint64(0x123456789abcdefULL)};
    return options;
  }

  // The same bytes from both backends.
  void ExpectTheSameProof(const Bench& bench) {
    auto resident = gpu_->LoadKey(bench.key);
    ASSERT_OK(resident);
    const auto expected = Prove(*bench.backend, *bench.resident, bench.span(), FixedBlinding());
    const auto got = Prove(*gpu_, **resident, bench.span(), FixedBlinding());
    ASSERT_OK(expected);
    ASSERT_OK(got);
    EXPECT_EQ(std::memcmp(&*got, &*expected, sizeof(Groth16Proof)), 0);
  }

  std::unique_ptr<CudaBackend> gpu_;
};

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
  const CudaBackend::Stats before = gpu_->stats();

  for (int i = 0; i < 10; ++i) ASSERT_OK(Prove(*gpu_, **resident, bench.span()));

  const CudaBackend::Stats after = gpu_->stats();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.host_to_device_bytes - before.host_to_device_bytes, 10 * 32 * bench.witness.size());
  EXPECT_LE(after.device_to_host_bytes - before.device_to_host_bytes, 10 * 4096U);
}

TEST_F(CudaBackendTest, NothingOfAProofStaysInTheArena) {
  const Bench bench = BenchOf(Squarings(6));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  ASSERT_OK(Prove(*gpu_, **resident, bench.span()));

  const auto arena = gpu_->ReadScratch();

  ASSERT_OK(arena);
  EXPECT_FALSE(arena->empty());
  EXPECT_EQ(std::count(arena->begin(), arena->end(), '\0'), static_cast<std::ptrdiff_t>(arena->size()));
}

TEST_F(CudaBackendTest, ACancelledProofStopsAndTheNextOneIsGood) {
  const Bench bench = BenchOf(Squarings(6));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  CancellationToken token;
  token.Cancel();
  ComputeContext context;
  context.cancel = &token;

  EXPECT_TRUE(absl::IsCancelled(gpu_->ComputeSums(**resident, bench.span(), context).status()));
  EXPECT_OK(Prove(*gpu_, **resident, bench.span()));
}

TEST_F(CudaBackendTest, WhicheverCallFailsTheProofFailsCleanlyAndTheNextOneIsGood) {
  const Bench bench = BenchOf(Squarings(6));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  const uint64_t start = gpu_->calls().count();
  ASSERT_OK(Prove(*gpu_, **resident, bench.span()));
  const uint64_t calls_a_proof = gpu_->calls().count() - start;
  ASSERT_GT(calls_a_proof, 20U);

  for (uint64_t n = 0; n < calls_a_proof; ++n) {
    SCOPED_TRACE(n);
    gpu_->calls().FailCall(n, cudaErrorMemoryAllocation);
    const absl::Status failed = Prove(*gpu_, **resident, bench.span()).status();
    EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
    EXPECT_EQ(GetReason(failed), ErrorReason::kOutOfMemory);
    ASSERT_OK(Prove(*gpu_, **resident, bench.span()));
  }
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

TEST_F(CudaBackendTest, AMemoryLimitMeansFewerMultiplesOrARefusalWithTheBytes) {
  const std::string folder = testing::TempDir();
  const SynthOptions options{
      .log2_domain = 14, .profile = SynthProfile::kDense, .seed = 3, .n_public = 1, .progress = {}};
  ASSERT_OK(Synthesize(options, folder + "/limit.zkey", folder + "/limit.wtns"));
  const auto key = LoadProvingKey(folder + "/limit.zkey", TestKeyOptions());
  ASSERT_OK(key);
  const auto witness = SynthWitness(options, 0);
  ASSERT_OK(witness);
  const absl::Span<const kernels::U256> span(witness->values.data(), witness->values.size());
  size_t all_bytes = 0;
  size_t key_bytes = 0;
  {
    auto resident = gpu_->LoadKey(*key);
    ASSERT_OK(resident);
    key_bytes = gpu_->stats().key_bytes;
    all_bytes = key_bytes + gpu_->stats().scratch_bytes;
  }

  // Room for everything, then for about half and a quarter of the multiples.
  for (const size_t limit : {all_bytes, all_bytes - key_bytes / 2, all_bytes - key_bytes * 3 / 4}) {
    SCOPED_TRACE(limit);
    auto limited = MakeCudaBackend({.device = 0, .device_memory_limit = limit});
    ASSERT_OK(limited);
    auto resident = (*limited)->LoadKey(*key);
    ASSERT_OK(resident);
    const CudaBackend::Stats stats = (*limited)->stats();
    EXPECT_LE(stats.key_bytes + stats.scratch_bytes, limit);
    EXPECT_OK(Prove(**limited, **resident, span));
  }
  constexpr size_t kTooLittle = size_t{16} << 20;
  auto limited = MakeCudaBackend({.device = 0, .device_memory_limit = kTooLittle});
  ASSERT_OK(limited);
  const absl::Status refused = (*limited)->LoadKey(*key).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_NE(refused.message().find(std::to_string(kTooLittle)), std::string::npos) << refused;
}

}  // namespace
}  // namespace proofmill::engine
