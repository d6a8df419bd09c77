// Proofs of one circuit that a GPU makes together. Without a GPU every test is skipped, and says so.

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/synth.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/cuda_backend_fixture.h"
#include "tests/engine/backend/cuda/least_memory.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

class ProofBatchesTest : public CudaBackendTest {};

// Witnesses of one synthetic circuit, and the proofs that the CPU makes of them.
struct Proofs {
  Bench bench;
  std::vector<Witness> witnesses;
  std::vector<Groth16Proof> expected;

  absl::Span<const kernels::U256> witness(size_t i) const {
    return {witnesses[i].values.data(), witnesses[i].values.size()};
  }
};
Proofs ProofsOfSynth(uint32_t log2_domain, SynthProfile profile, const ProveOptions& options) {
  Proofs proofs{BenchOfSynth(log2_domain, profile), {}, {}};
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto witness = SynthWitness({.log2_domain = log2_domain, .profile = profile, .seed = 3}, seed);
    EXPECT_OK(witness);
    proofs.witnesses.push_back(*std::move(witness));
    const auto proof = Prove(*proofs.bench.backend, *proofs.bench.resident, proofs.witness(seed), options);
    EXPECT_OK(proof);
    proofs.expected.push_back(*proof);
  }
  return proofs;
}

// Calls `prove` with numbers of witnesses, from more threads than batches are made for.
void FromManyThreads(const std::function<void(size_t)>& prove) {
  constexpr size_t kThreads = 40;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 12; ++i) prove((t + i) % 5);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ProofBatchesTest, ProofsOfOneCircuitThatWaitAreMadeTogetherAndAreThoseOfTheCpu) {
  for (const uint32_t log2_domain : {1U, 6U, 12U}) {
    for (const SynthProfile profile : {SynthProfile::kDense, SynthProfile::kBits}) {
      SCOPED_TRACE(testing::Message() << log2_domain << " " << static_cast<int>(profile));
      const Proofs proofs = ProofsOfSynth(log2_domain, profile, FixedBlinding());
      auto resident = gpu_->LoadKey(proofs.bench.key);
      ASSERT_OK(resident);
      const DeviceUsage before = gpu_->stats();
      std::atomic<uint64_t> made{0};
      FromManyThreads([&](size_t i) {
        const auto proof = Prove(*gpu_, **resident, proofs.witness(i), FixedBlinding());
        ASSERT_OK(proof);
        ASSERT_EQ(std::memcmp(&*proof, &proofs.expected[i], sizeof(Groth16Proof)), 0);
        ++made;
      });
      const DeviceUsage after = gpu_->stats();
      EXPECT_EQ(after.allocations, before.allocations);
      EXPECT_EQ(after.host_to_device_bytes - before.host_to_device_bytes,
                made * 32 * proofs.bench.witness.size());
      EXPECT_LE(after.device_to_host_bytes - before.device_to_host_bytes, made * 4096U);
      EXPECT_GT(after.batches, before.batches);
      EXPECT_GE(after.batched_proofs - before.batched_proofs, 2 * (after.batches - before.batches));
      ExpectNoTrace(*gpu_);
    }
  }
}

// A call that fails in a batch costs its leader the proof and nobody else.
TEST_F(ProofBatchesTest, AFaultInABatchCostsOneProof) {
  const Proofs proofs = ProofsOfSynth(6, SynthProfile::kDense, FixedBlinding());
  auto resident = gpu_->LoadKey(proofs.bench.key);
  ASSERT_OK(resident);
  constexpr uint64_t kCallsMax = 60;  // before a fault comes
  std::atomic<int> failed{0};
  std::atomic<bool> stop{false};
  int faults = 0;
  std::thread injector([&] {
    for (uint64_t n = 0; !stop; n = (n + 7) % kCallsMax) {
      gpu_->calls().FailCall(n, cudaErrorMemoryAllocation);
      ++faults;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  FromManyThreads([&](size_t i) {
    const auto proof = Prove(*gpu_, **resident, proofs.witness(i), FixedBlinding());
    if (proof.ok()) {
      ASSERT_EQ(std::memcmp(&*proof, &proofs.expected[i], sizeof(Groth16Proof)), 0);
    } else {
      EXPECT_EQ(GetReason(proof.status()), ErrorReason::kOutOfMemory) << proof.status();
      ++failed;
    }
  });
  stop = true;
  injector.join();
  // A fault may be on its way yet, and one proof may make fewer calls than it waits for; these make enough.
  for (uint64_t i = 0; i < kCallsMax; ++i) static_cast<void>(Prove(*gpu_, **resident, proofs.witness(0)));
  EXPECT_GT(failed, 0);
  EXPECT_LE(failed, faults);
  EXPECT_GT(gpu_->stats().batches, 0U);
  EXPECT_OK(Prove(*gpu_, **resident, proofs.witness(0)));
  ExpectNoTrace(*gpu_);
}

TEST_F(ProofBatchesTest, WhereMemoryIsShortProofsAreMadeOneByOne) {
  const Proofs proofs = ProofsOfSynth(11, SynthProfile::kDense, FixedBlinding());
  const auto limited = BackendWithLimit(LeastMemoryFor(proofs.bench.key));
  auto resident = limited->LoadKey(proofs.bench.key);
  ASSERT_OK(resident);
  FromManyThreads([&](size_t i) {
    const auto proof = Prove(*limited, **resident, proofs.witness(i), FixedBlinding());
    ASSERT_OK(proof);
    ASSERT_EQ(std::memcmp(&*proof, &proofs.expected[i], sizeof(Groth16Proof)), 0);
  });
  EXPECT_EQ(limited->stats().batches, 0U);
}

}  // namespace
}  // namespace proofmill::engine
