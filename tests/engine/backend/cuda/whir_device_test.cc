// WHIR proofs of a GPU: byte for byte those of the CPU, and what happens when a proof cannot end. Without a
// GPU every test is skipped, and says so.

#include "engine/backend/cuda/whir_device.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/pinned_upload.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/vector_check.h"
#include "engine/whir/verifier.h"
#include "gtest/gtest.h"
#include "kernels/cuda/transcript.h"
#include "tests/engine/whir/cases.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/whir_vectors.h"

namespace proofmill::engine {
namespace {

class CudaWhirDeviceTest : public kernels::GpuTest {};

std::unique_ptr<CudaWhirDevice> MakeDevice(const WhirConfig& config) {
  auto device = MakeCudaWhirDevice(config);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}
absl::StatusOr<std::unique_ptr<WhirDevice>> MakeVectorDevice(const WhirConfig& config) {
  return MakeCudaWhirDevice(config);
}

std::string Describe(const WhirParameters& p) {
  return testing::PrintToString(std::vector<uint32_t>{
      static_cast<uint32_t>(p.profile), p.extension_degree, static_cast<uint32_t>(p.constants),
      p.num_variables, p.folding.first, p.folding.rest, p.log_inv_rate, p.domain_reduction, p.security_level,
      p.max_pow_bits, static_cast<uint32_t>(p.assumption), p.num_claims});
}

TEST_F(CudaWhirDeviceTest, ProofsOfRandomParametersAreThoseOfTheCpu) {
  kernels::SmallRng rng(43);
  for (int i = 0; i < 200; ++i) {
    const WhirParameters p = RandomWhirParameters(rng, i % 10 == 0 ? 17 : 12);
    SCOPED_TRACE(Describe(p));
    const WhirCase made = MakeWhirCase(p, static_cast<uint64_t>(i));
    const WhirProver prover(made.config, MakeDevice(made.config));
    // Recorded and launched, launched again with the memory of the first, and step by step.
    for (int run = 0; run < 3; ++run) {
      WhirTimes times;
      const auto proof = prover.Prove(made.polynomial, made.claims, {.times = run < 2 ? nullptr : &times});
      ASSERT_TRUE(proof.ok()) << proof.status();
      ASSERT_EQ(EncodeWhirProof(made.config, *proof), EncodeWhirProof(made.config, made.proof));
      ASSERT_EQ(*proof, made.proof);
    }
  }
}

TEST_F(CudaWhirDeviceTest, VectorsAreMadeAgain) {
  for (const char* const prefix : {"proof_", "compact_", "strict_proof_"}) {
    const auto files = kernels::WhirVectorFiles(prefix);
    ASSERT_FALSE(files.empty());
    for (const auto& file : files) {
      const auto result = CheckWhirVector(kernels::ReadWhirVectorText(file), {.device = MakeVectorDevice});
      ASSERT_TRUE(result.ok()) << file << ": " << result.status();
      EXPECT_TRUE(result->agrees) << file << ": " << result->detail;
    }
  }
}

TEST_F(CudaWhirDeviceTest, MoreClaimsThanTheParametersSayAreProvedInThePinProfile) {
  WhirParameters p = TwoRounds();
  p.num_claims = 70;  // more than one set of tables holds
  const WhirCase made = MakeWhirCase(p);
  p.num_claims = 0;
  const auto config = DeriveWhirConfig(p);
  ASSERT_TRUE(config.ok());
  const WhirProver prover(*config, MakeDevice(*config));
  const auto proof = prover.Prove(made.polynomial, made.claims, {});
  ASSERT_TRUE(proof.ok()) << proof.status();
  EXPECT_EQ(*proof, made.proof);
}

TEST_F(CudaWhirDeviceTest, ThePolynomialCrossesTheBusOnceAndNothingIsAllocated) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  std::unique_ptr<CudaWhirDevice> owned = MakeDevice(made.config);
  CudaWhirDevice& device = *owned;
  const WhirProver prover(made.config, std::move(owned));
  const uint64_t up = device.calls().host_to_device_bytes(), allocations = device.calls().allocations();
  ASSERT_TRUE(prover.Prove(made.polynomial, made.claims, {}).ok());
  const size_t claim_words = made.claims[0].point.size() + made.claims[0].value.size();
  const size_t needed = 4 * (made.polynomial.size() + claim_words) + sizeof(kernels::DeviceSponge);
  EXPECT_GE(device.calls().host_to_device_bytes() - up, needed);
  // With them go the places of other points, and up to 256 bytes between parts.
  EXPECT_LE(device.calls().host_to_device_bytes() - up, needed + 2048);
  EXPECT_EQ(device.calls().allocations(), allocations);
}

TEST_F(CudaWhirDeviceTest, PageLockedMemoryThatAnUploadWentThroughIsWiped) {
  CudaCalls calls;
  constexpr size_t kChunkBytes = 4096;
  const std::vector<uint8_t> secret(2 * kChunkBytes + 100, 0x5a);
  const kernels::DeviceVector<uint8_t> target(secret.size());
  const auto stream = Stream::Make(calls, 0);
  ASSERT_TRUE(stream.ok());
  auto upload = PinnedUpload::Make(calls, kChunkBytes);
  ASSERT_TRUE(upload.ok());
  ASSERT_TRUE(upload->Upload(target.data(), secret.data(), secret.size(), stream->get()).ok());
  EXPECT_EQ(upload->chunk(1)[kChunkBytes - 1], 0x5a);

  EXPECT_TRUE(upload->Wipe().ok());
  EXPECT_EQ(target.Download(), secret);
  for (const size_t i : {0, 1}) {
    const std::vector<uint8_t> zeros(kChunkBytes);
    EXPECT_EQ(upload->chunk(i), absl::MakeConstSpan(zeros)) << i;
  }

  // A failed wait is told, and leaves nothing either.
  ASSERT_TRUE(upload->Upload(target.data(), secret.data(), 10, stream->get()).ok());
  ASSERT_EQ(cudaStreamSynchronize(stream->get()), cudaSuccess);
  calls.FailCall(0, cudaErrorInvalidValue);
  EXPECT_TRUE(absl::IsInternal(upload->Wipe()));
  EXPECT_EQ(upload->chunk(0)[0] | upload->chunk(1)[0], 0);
}

TEST_F(CudaWhirDeviceTest, WithoutANonceThereIsNoProofAndTheNextOneIsGood) {
  WhirParameters p = TwoRounds();
  p.max_pow_bits = 12;
  const WhirCase made = MakeWhirCase(p);
  const WhirProver prover(made.config, MakeDevice(made.config));
  EXPECT_TRUE(absl::IsAborted(prover.Prove(made.polynomial, made.claims, {.nonce_end = 2}).status()));
  const auto proof = prover.Prove(made.polynomial, made.claims, {});
  ASSERT_TRUE(proof.ok()) << proof.status();
  EXPECT_EQ(*proof, made.proof);
}

TEST_F(CudaWhirDeviceTest, EndsWhenItIsCancelled) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  const WhirProver prover(made.config, MakeDevice(made.config));
  CancellationToken token;
  token.Cancel();
  EXPECT_TRUE(
      absl::IsCancelled(prover.Prove(made.polynomial, made.claims, {.cancellation = &token}).status()));
}

TEST_F(CudaWhirDeviceTest, EveryFailingCallEndsTheProofWithAnErrorAndNotTheNextOne) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  for (uint64_t n = 0;; ++n) {
    // The first proof of a device records what later ones launch.
    std::unique_ptr<CudaWhirDevice> owned = MakeDevice(made.config);
    CudaCalls& calls = owned->calls();
    const WhirProver prover(made.config, std::move(owned));
    const uint64_t before = calls.count();
    calls.FailCall(n, cudaErrorInvalidValue);
    const auto failed = prover.Prove(made.polynomial, made.claims, {});
    if (calls.count() - before <= n) {
      ASSERT_GT(n, 20u);  // all calls were tried
      break;
    }
    EXPECT_TRUE(absl::IsInternal(failed.status())) << n << ": " << failed.status();
    calls.FailCall(1u << 30, cudaSuccess);
    const auto proof = prover.Prove(made.polynomial, made.claims, {});
    ASSERT_TRUE(proof.ok()) << n << ": " << proof.status();
    ASSERT_EQ(*proof, made.proof) << n;
  }
}

TEST_F(CudaWhirDeviceTest, TimesOfStagesAreMeasured) {
  const WhirCase made = MakeWhirCase(TwoRounds());
  const WhirProver prover(made.config, MakeDevice(made.config));
  WhirTimes times;
  ASSERT_TRUE(prover.Prove(made.polynomial, made.claims, {.times = &times}).ok());
  EXPECT_GT(times.encode, 0);
  EXPECT_GT(times.sumcheck, 0);
  EXPECT_GT(times.nonces, 0u);
  EXPECT_GT(times.total, times.encode + times.hash);
}

}  // namespace
}  // namespace proofmill::engine
