#include "engine/groth16/subgroup_check.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/pairing.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/twist_points.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;

// 1, 2, 3, ... times a generator, with infinity at every seventh place.
template <typename F>
std::vector<kernels::Affine<F>> Multiples(const kernels::Affine<F>& generator, size_t n) {
  std::vector<kernels::Xyzz<F>> sums(n);
  kernels::Xyzz<F> sum = kernels::Xyzz<F>::Infinity();
  for (size_t i = 0; i < n; ++i) {
    sum += generator;
    sums[i] = i % 7 == 6 ? kernels::Xyzz<F>::Infinity() : sum;
  }
  std::vector<kernels::Affine<F>> out(n);
  kernels::BatchToAffine(sums.data(), out.data(), n);
  return out;
}

bool AllInSubgroup(const std::vector<G2Affine>& points) {
  const auto combinations = RandomCombinations::Draw(points.size());
  EXPECT_OK(combinations);
  return AllInG2Subgroup(combinations->Combine(points.data(), 0, points.size()));
}

TEST(TwistPointsTest, HaveTheOrdersThatTheirNamesSay) {
  const kernels::U256 order{{10069, 0, 0, 0}};
  const G2Xyzz small = G2Xyzz::FromAffine(PointOfOrder10069());
  EXPECT_FALSE(small.IsInfinity());
  EXPECT_TRUE(ScalarMulVartime(small, order).IsInfinity());
  const G2Xyzz mixed = G2Xyzz::FromAffine(PointOfOrder10069TimesR());
  EXPECT_FALSE(ScalarMulVartime(mixed, Fr::kModulus).IsInfinity());
  EXPECT_TRUE(ScalarMulVartime(ScalarMulVartime(mixed, Fr::kModulus), order).IsInfinity());
  EXPECT_TRUE(kernels::IsOnCurve(PointOutsideSubgroup()));
  EXPECT_FALSE(kernels::IsInG2Subgroup(PointOutsideSubgroup()));
}

TEST(SubgroupCheckTest, PointsOfTheSubgroupPassForAnyNumberOfThem) {
  for (size_t n : {0u, 1u, 2u, 31u, 32u, 33u, 1000u}) {
    EXPECT_TRUE(AllInSubgroup(Multiples(kernels::kG2Generator, n))) << n;
  }
}

TEST(SubgroupCheckTest, OnePlantedPointOfOrder10069TimesRIsFoundEveryTime) {
  const std::vector<G2Affine> good = Multiples(kernels::kG2Generator, 300);
  for (size_t place = 0; place < good.size(); place += 23) {
    std::vector<G2Affine> points = good;
    points[place] = PointOfOrder10069TimesR();
    const auto combinations = RandomCombinations::Draw(points.size());
    ASSERT_OK(combinations);

    EXPECT_FALSE(AllInG2Subgroup(combinations->Combine(points.data(), 0, points.size())));
    EXPECT_EQ(FirstOutsideG2Subgroup(*combinations, points.data(), points.size()), place);
  }
}

TEST(SubgroupCheckTest, PlantedPointsThatCancelInAPlainSumAreFound) {
  std::vector<G2Affine> points = Multiples(kernels::kG2Generator, 100);
  points[10] = PointOfOrder10069();
  points[20] = -PointOfOrder10069();
  const auto combinations = RandomCombinations::Draw(points.size());
  ASSERT_OK(combinations);

  EXPECT_FALSE(AllInG2Subgroup(combinations->Combine(points.data(), 0, points.size())));
  EXPECT_EQ(FirstOutsideG2Subgroup(*combinations, points.data(), points.size()), 10u);
}

TEST(SubgroupCheckTest, OneSumOutsideIsEnough) {
  RandomCombinations::Sums sums;
  sums.fill(G2Xyzz::FromAffine(kernels::kG2Generator));
  ASSERT_TRUE(AllInG2Subgroup(sums));
  sums[5] = G2Xyzz::FromAffine(PointOfOrder10069TimesR());
  EXPECT_FALSE(AllInG2Subgroup(sums));
}

TEST(SubgroupCheckTest, CombinationsAreLinearAndDoNotDependOnThreads) {
  const std::vector<G2Affine> points = Multiples(kernels::kG2Generator, 500);
  const auto combinations = RandomCombinations::Draw(points.size());
  ASSERT_OK(combinations);
  const auto whole = combinations->Combine(points.data(), 0, 500);

  const auto left = combinations->Combine(points.data(), 0, 123);
  const auto right = combinations->Combine(points.data(), 123, 500);
  for (size_t j = 0; j < whole.size(); ++j) EXPECT_EQ(left[j] + right[j], whole[j]);
  for (size_t threads = 1; threads <= 4; ++threads) {
    kernels::ThreadArena arena(threads);
    arena.Execute([&] { EXPECT_EQ(combinations->Combine(points.data(), 0, 500), whole); });
  }
}

TEST(SubgroupCheckTest, TheJoinedCombinationHasTheSameScalarInBothGroups) {
  const std::vector<G1Affine> points1 = Multiples(kernels::kG1Generator, 200);
  std::vector<G2Affine> points2 = Multiples(kernels::kG2Generator, 200);
  const auto combinations = RandomCombinations::Draw(200);
  ASSERT_OK(combinations);
  const G1Affine joined1 = combinations->CombineJoined(points1.data(), 0, 200).ToAffine();
  const auto same_scalar = [&] {
    const G2Xyzz joined2 = combinations->Join(combinations->Combine(points2.data(), 0, 200));
    const kernels::PairingTerm terms[] = {{joined1, kernels::kG2Generator},
                                          {-kernels::kG1Generator, joined2.ToAffine()}};
    return kernels::PairingProductIsOne(terms, 2);
  };

  EXPECT_TRUE(same_scalar());
  points2[150] = -points2[150];
  EXPECT_FALSE(same_scalar());
}

TEST(SubgroupCheckTest, EveryDrawHasOtherCoefficients) {
  const std::vector<G2Affine> points = Multiples(kernels::kG2Generator, 20);
  const auto first = RandomCombinations::Draw(points.size());
  const auto second = RandomCombinations::Draw(points.size());
  ASSERT_OK(first);
  ASSERT_OK(second);

  const auto sums = first->Combine(points.data(), 0, points.size());
  EXPECT_NE(sums, second->Combine(points.data(), 0, points.size()));
  EXPECT_NE(sums[0], sums[1]);
}

}  // namespace
}  // namespace proofmill::engine
