#include "engine/groth16/lagrange.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;

// From the definition: the product over k != j of (tau - w^k) / (w^j - w^k).
Fr NaiveLagrange(uint32_t log2_n, uint64_t j, const Fr& tau) {
  const uint64_t n = uint64_t{1} << log2_n;
  std::vector<Fr> roots(n, Fr::One());
  for (uint64_t k = 1; k < n; ++k) roots[k] = roots[k - 1] * kernels::FrRootOfUnity(log2_n);
  Fr out = Fr::One();
  for (uint64_t k = 0; k < n; ++k) {
    if (k != j) out *= (tau - roots[k]) * (roots[j] - roots[k]).Inverse();
  }
  return out;
}

TEST(LagrangeTest, EveryBasisPolynomialOfSmallDomainsIsTheOneOfTheDefinition) {
  const Fr tau = Fr::FromUint64(123456789);
  for (uint32_t log2_n = 0; log2_n <= 5; ++log2_n) {
    std::vector<Fr> values(size_t{1} << log2_n);

    LagrangeAt({.log2_n = log2_n}, tau, Fr::One(), values.data(), values.size());

    for (size_t j = 0; j < values.size(); ++j) EXPECT_EQ(values[j], NaiveLagrange(log2_n, j, tau)) << j;
  }
}

TEST(LagrangeTest, ARangeTakesItsStepAndItsFactor) {
  const Fr tau = Fr::FromUint64(987654321);
  const Fr factor = Fr::FromUint64(77);
  std::vector<Fr> odd(8);

  LagrangeAt({.log2_n = 4, .first = 1, .step = 2}, tau, factor, odd.data(), odd.size());

  for (size_t i = 0; i < odd.size(); ++i) EXPECT_EQ(odd[i], factor * NaiveLagrange(4, 2 * i + 1, tau)) << i;
}

TEST(LagrangeTest, ValuesOfALargeDomainSumUpToOneForAnyNumberOfThreads) {
  const Fr tau = Fr::FromUint64(31337);
  std::vector<Fr> first;
  for (size_t threads = 1; threads <= 4; ++threads) {
    std::vector<Fr> values(size_t{1} << 15);
    kernels::ThreadArena arena(threads);

    arena.Execute([&] { LagrangeAt({.log2_n = 15}, tau, Fr::One(), values.data(), values.size()); });

    Fr sum;
    for (const Fr& value : values) sum += value;
    EXPECT_EQ(sum, Fr::One());
    if (first.empty()) first = values;
    EXPECT_TRUE(values == first) << threads;
  }
}

}  // namespace
}  // namespace proofmill::engine
