#include "kernels/cpu/scalar_mul.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class ScalarMulTest : public testing::Test {
 protected:
  ScalarMulTest() : scalars_(Elements<Fr>::Edge()) {
    Random random(27);
    for (int i = 0; i < 60; ++i) scalars_.push_back(Elements<Fr>::Uniform(random));
  }
  std::vector<Fr> scalars_;
};
using Coordinates = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(ScalarMulTest, Coordinates);

TYPED_TEST(ScalarMulTest, BothWaysMultiplyByEveryScalar) {
  const Affine<TypeParam> base = Multiple<TypeParam>(987654321);
  const auto point = Xyzz<TypeParam>::FromAffine(base);
  // The same point in other coordinates.
  const Xyzz<TypeParam> scaled = point.Double() + (-base);
  const WindowTable<TypeParam> table(base);

  for (const Fr& scalar : this->scalars_) {
    const Xyzz<TypeParam> expected = ScalarMulVartime(point, scalar.ToPlain());
    ASSERT_EQ(ScalarMul(point, scalar), expected);
    ASSERT_EQ(ScalarMul(scaled, scalar), expected);
    ASSERT_EQ(table.Times(scalar), expected);
  }
}

TYPED_TEST(ScalarMulTest, MultiplesOfInfinityAreInfinity) {
  const WindowTable<TypeParam> table(Affine<TypeParam>::Infinity());

  for (const Fr& scalar : this->scalars_) {
    EXPECT_TRUE(ScalarMul(Xyzz<TypeParam>::Infinity(), scalar).IsInfinity());
    EXPECT_TRUE(table.Times(scalar).IsInfinity());
  }
}

TEST(SumOfFewTest, IsTheSumOfTheMultiples) {
  constexpr Uint128 kTop = ~Uint128{0};
  const std::vector<Uint128> edges = {0, 1, 2, 3, 7, 8, 15, 16, kTop, kTop - 1, kTop - 7, kTop - 8, kTop / 2};
  Random random(31);
  for (size_t n = 0; n <= kFewPointsMax; ++n) {
    for (size_t round = 0; round < 4; ++round) {
      std::vector<G1Affine> points;
      std::vector<Uint128> scalars;
      G1Xyzz expected = G1Xyzz::Infinity();
      for (size_t i = 0; i < n; ++i) {
        points.push_back(i % 5 == 3 ? G1Affine::Infinity() : Multiple<Fq>(random()));
        const Uint128 uniform = Uint128{random()} << 64 | random();
        scalars.push_back(round == 0 ? edges[i % edges.size()] : uniform);
        const U256 plain{{static_cast<uint64_t>(scalars[i]), static_cast<uint64_t>(scalars[i] >> 64), 0, 0}};
        expected += ScalarMulVartime(G1Xyzz::FromAffine(points[i]), plain);
      }
      ASSERT_EQ(SumOfFew(points.data(), scalars.data(), n), expected) << n;
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
