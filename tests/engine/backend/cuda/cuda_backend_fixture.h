// The CUDA backend beside the CPU backend, for tests. Without a GPU every test is skipped, and says so.

#ifndef PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_CUDA_BACKEND_FIXTURE_H_
#define PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_CUDA_BACKEND_FIXTURE_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {

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
    options.fixed_blinding =
        Blinding{-kernels::Fr::FromUint64(2), kernels::Fr::FromUint64(0x123456789abcdefULL)};
    return options;
  }

  // Each call of a proof fails once, or each `step`-th; of a proof that is not the first of the key.
  static void CheckFaults(CudaBackend& gpu, ResidentKey& key, const Bench& bench, uint64_t step) {
    ASSERT_OK(Prove(gpu, key, bench.span()));
    const uint64_t start = gpu.calls().count();
    ASSERT_OK(Prove(gpu, key, bench.span()));
    const uint64_t calls_a_proof = gpu.calls().count() - start;
    ASSERT_GT(calls_a_proof, 20U);

    for (uint64_t n = 0; n < calls_a_proof; n += step) {
      SCOPED_TRACE(n);
      gpu.calls().FailCall(n, cudaErrorMemoryAllocation);
      const absl::Status failed = Prove(gpu, key, bench.span()).status();
      EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
      EXPECT_EQ(GetReason(failed), ErrorReason::kOutOfMemory);
      ASSERT_OK(Prove(gpu, key, bench.span()));
    }
  }

  static void ExpectNoTrace(CudaBackend& gpu) {
    const auto arena = gpu.ReadScratch();
    ASSERT_OK(arena);
    EXPECT_FALSE(arena->empty());
    EXPECT_EQ(std::count(arena->begin(), arena->end(), '\0'), static_cast<std::ptrdiff_t>(arena->size()));
  }

  // Proves and compares with `expected`, made with the same blinding; checks what moved and what was taken.
  static void CheckProof(CudaBackend& gpu, ResidentKey& key, const Bench& bench,
                         const Groth16Proof& expected) {
    const DeviceUsage before = gpu.stats();
    const auto got = Prove(gpu, key, bench.span(), FixedBlinding());
    ASSERT_OK(got);
    EXPECT_EQ(std::memcmp(&*got, &expected, sizeof(Groth16Proof)), 0);
    const DeviceUsage after = gpu.stats();
    EXPECT_EQ(after.allocations, before.allocations);
    EXPECT_EQ(after.host_to_device_bytes - before.host_to_device_bytes, 32 * bench.witness.size());
    EXPECT_LE(after.device_to_host_bytes - before.device_to_host_bytes, 4096U);
    EXPECT_LE(after.key_bytes + after.scratch_bytes, after.limit_bytes);
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

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_CUDA_BACKEND_FIXTURE_H_
