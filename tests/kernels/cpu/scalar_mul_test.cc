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

}  // namespace
}  // namespace proofmill::kernels
