// The set-up on a GPU: the points and keys of the CPU, and what happens when a call fails. Without a GPU
// every test is skipped, and says so.

#include "engine/backend/cuda/fixed_base_device.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/groth16/synth.h"
#include "gtest/gtest.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/fixed_base_cases.h"
#include "tests/engine/groth16/setup_keys.h"
#include "tests/kernels/cuda/device_vector.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;

class CudaFixedBaseMultiplierTest : public kernels::GpuTest {};

std::unique_ptr<CudaFixedBaseMultiplier> MakeMultiplier(size_t chunk = CudaFixedBaseOptions().chunk) {
  auto multiplier = MakeCudaFixedBaseMultiplier({.device = 0, .chunk = chunk});
  EXPECT_OK(multiplier);
  return *std::move(multiplier);
}

TEST_F(CudaFixedBaseMultiplierTest, GivesThePointsOfTheCpuInChunksOfAnySize) {
  const auto cpu = MakeCpuFixedBaseMultiplier();
  for (const size_t chunk : {1u, 128u, 1000u, 1u << 16}) {
    const auto gpu = MakeMultiplier(chunk);
    EXPECT_EQ(gpu->name(), "cuda:0");
    for (const size_t n : {0u, 1u, 127u, 128u, 129u, 1000u, 1001u, 3000u, 150'000u}) {
      if (n / chunk > 1000) continue;
      const std::vector<Fr> scalars = FixedBaseScalars(n);
      ASSERT_EQ(MultiplesOf<Fq>(*gpu, scalars), MultiplesOf<Fq>(*cpu, scalars)) << chunk << " " << n;
      ASSERT_EQ(MultiplesOf<Fq2>(*gpu, scalars), MultiplesOf<Fq2>(*cpu, scalars)) << chunk << " " << n;
    }
  }
}

TEST_F(CudaFixedBaseMultiplierTest, ThePointsAreMultiplesOfTheGenerators) {
  const auto gpu = MakeMultiplier();
  const std::vector<Fr> scalars = FixedBaseScalars(1000);
  ExpectMultiples(scalars, MultiplesOf<Fq>(*gpu, scalars));
  ExpectMultiples(scalars, MultiplesOf<Fq2>(*gpu, scalars));
}

TEST_F(CudaFixedBaseMultiplierTest, KeysOfEdgeCircuitsAreThoseOfTheCpu) {
  const auto gpu = MakeMultiplier(3);
  for (const TestCircuit& circuit : EdgeCircuits()) {
    const R1cs r1cs = circuit.ToR1cs();
    EXPECT_EQ(SetupBytes(R1csConstraints(r1cs), {.seed = 11, .multiplier = gpu.get()}),
              SetupBytes(R1csConstraints(r1cs), {.seed = 11}))
        << circuit.name;
  }
}

TEST_F(CudaFixedBaseMultiplierTest, KeysOfEveryDomainAreThoseOfTheCpu) {
  const auto gpu = MakeMultiplier();
  for (const SynthProfile profile : {SynthProfile::kDense, SynthProfile::kBits}) {
    for (uint32_t log2_domain = 1; log2_domain <= 14; ++log2_domain) {
      SynthOptions options;
      options.log2_domain = log2_domain;
      options.profile = profile;
      const auto system = SynthConstraints(options);
      ASSERT_OK(system);
      // Neither the GPU nor the chunks leave a trace in the file.
      EXPECT_EQ(SetupBytes(**system, {.seed = 5, .multiplier = gpu.get(), .chunk = 1000}),
                SetupBytes(**system, {.seed = 5}))
          << log2_domain;
    }
  }
}

TEST_F(CudaFixedBaseMultiplierTest, OnlyScalarsGoUpAndOnlyPointsComeDown) {
  const auto gpu = MakeMultiplier(1000);
  CudaCalls& calls = gpu->calls();
  const uint64_t up = calls.host_to_device_bytes(), down = calls.device_to_host_bytes();
  const uint64_t allocations = calls.allocations();
  MultiplesOf<Fq>(*gpu, FixedBaseScalars(2500));
  MultiplesOf<Fq2>(*gpu, FixedBaseScalars(10));
  EXPECT_EQ(calls.host_to_device_bytes() - up, 32u * 2510);
  EXPECT_EQ(calls.device_to_host_bytes() - down, 64u * 2500 + 128 * 10);
  EXPECT_EQ(calls.allocations(), allocations);
}

void ExpectNoScalarLeft(CudaFixedBaseMultiplier& multiplier) {
  const auto left = multiplier.ReadScalars();
  ASSERT_OK(left);
  EXPECT_EQ(left->find_first_not_of('\0'), std::string::npos);
}

TEST_F(CudaFixedBaseMultiplierTest, NoScalarStaysOnTheDevice) {
  const auto gpu = MakeMultiplier(100);
  MultiplesOf<Fq>(*gpu, FixedBaseScalars(250));
  ExpectNoScalarLeft(*gpu);
  MultiplesOf<Fq2>(*gpu, FixedBaseScalars(99));
  ExpectNoScalarLeft(*gpu);
}

TEST_F(CudaFixedBaseMultiplierTest, EveryFailingCallIsAnErrorAndNotThatOfTheNextCall) {
  const auto gpu = MakeMultiplier(1000);
  CudaCalls& calls = gpu->calls();
  const std::vector<Fr> scalars = FixedBaseScalars(2500);
  const std::vector<kernels::G1Affine> expected = MultiplesOf<Fq>(*gpu, scalars);
  for (uint64_t n = 0;; ++n) {
    std::vector<kernels::G1Affine> points(scalars.size());
    const uint64_t before = calls.count();
    calls.FailCall(n, cudaErrorInvalidValue);
    const absl::Status failed = gpu->Multiply(scalars, points.data());
    if (calls.count() - before <= n) {
      ASSERT_GE(n, 16u);  // all calls were tried: four for each of three chunks, and four around them
      break;
    }
    EXPECT_TRUE(absl::IsInternal(failed)) << n << ": " << failed;
    EXPECT_EQ(GetReason(failed), ErrorReason::kDeviceFault) << n;
    calls.FailCall(uint64_t{1} << 30, cudaSuccess);
    ASSERT_EQ(MultiplesOf<Fq>(*gpu, scalars), expected) << n;
    ExpectNoScalarLeft(*gpu);
  }
}

TEST_F(CudaFixedBaseMultiplierTest, ADeviceThatIsNotThereIsRefused) {
  const auto none = MakeCudaFixedBaseMultiplier({.device = 1000});
  ExpectError(none, absl::StatusCode::kFailedPrecondition, "expected a device number from 0 to ");
  EXPECT_EQ(GetReason(none.status()), ErrorReason::kNoDevice);
}

}  // namespace
}  // namespace proofmill::engine
