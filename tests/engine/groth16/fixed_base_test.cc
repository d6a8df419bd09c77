#include "engine/groth16/fixed_base.h"

#include "gtest/gtest.h"
#include "tests/engine/groth16/fixed_base_cases.h"

namespace proofmill::engine {
namespace {

TEST(CpuFixedBaseMultiplierTest, GivesTheMultiplesOfBothGenerators) {
  const auto multiplier = MakeCpuFixedBaseMultiplier();
  EXPECT_EQ(multiplier->name(), "cpu");
  for (const size_t n : {0u, 1u, 2u, 300u}) {
    const std::vector<kernels::Fr> scalars = FixedBaseScalars(n);
    ExpectMultiples(scalars, MultiplesOf<kernels::Fq>(*multiplier, scalars));
    ExpectMultiples(scalars, MultiplesOf<kernels::Fq2>(*multiplier, scalars));
  }
}

}  // namespace
}  // namespace proofmill::engine
