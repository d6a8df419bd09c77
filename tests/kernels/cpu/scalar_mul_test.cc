#include "kernels/cpu/scalar_mul.h"

#include <iterator>
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

// Points with an infinity among them, and scalars whose halves are edge values or random.
class FewMultiplesTest : public testing::Test {
 protected:
  void Draw(size_t n, bool edges) {
    constexpr uint64_t kTop = ~uint64_t{0};
    constexpr uint64_t kEdges[] = {0, 1, 2, 3, 7, 8, 15, 16, kTop, kTop - 1, kTop - 7, kTop - 8, kTop / 2};
    const auto half = [&](size_t i) { return edges ? kEdges[i % std::size(kEdges)] : random_(); };
    points_.clear();
    scalars_.clear();
    for (size_t i = 0; i < n; ++i) {
      points_.push_back(i % 5 == 3 ? G1Affine::Infinity() : Multiple<Fq>(random_()));
      scalars_.push_back({half(i), half(3 * i + random_() % 2)});
    }
  }
  G1Xyzz Expected(size_t i) const {
    return ScalarMulVartime(G1Xyzz::FromAffine(points_[i]), scalars_[i].ToFr().ToPlain());
  }

  Random random_{31};
  std::vector<G1Affine> points_;
  std::vector<SplitScalar> scalars_;
};

TEST_F(FewMultiplesTest, TheSumIsThatOfTheMultiples) {
  for (size_t n = 0; n <= kFewPointsMax; ++n) {
    for (int round = 0; round < 4; ++round) {
      Draw(n, round < 2);
      G1Xyzz expected = G1Xyzz::Infinity();
      for (size_t i = 0; i < n; ++i) expected += Expected(i);

      ASSERT_EQ(SumOfFew(points_.data(), scalars_.data(), n), expected) << n;
    }
  }
}

TEST_F(FewMultiplesTest, EachIsMultipliedByItsOwnScalar) {
  for (size_t n = 0; n <= kFewPointsMax; ++n) {
    Draw(n, n % 2 == 0);
    std::vector<G1Affine> out(n);
    MultiplyEach(points_.data(), scalars_.data(), n, out.data());

    for (size_t i = 0; i < n; ++i) ASSERT_EQ(G1Xyzz::FromAffine(out[i]), Expected(i)) << i << " of " << n;
    MultiplyEach(points_.data(), scalars_.data(), n, points_.data());
    ASSERT_EQ(points_, out) << "in place";
  }
}

TEST(SplitScalarTest, LambdaIsTheCubeRootOfOne) {
  const Fr lambda = SplitScalar{0, 1}.ToFr();

  EXPECT_EQ(lambda * lambda + lambda + Fr::One(), Fr::Zero());
  EXPECT_EQ((SplitScalar{7, 5}.ToFr()), Fr::FromUint64(7) + Fr::FromUint64(5) * lambda);
}

}  // namespace
}  // namespace proofmill::kernels
