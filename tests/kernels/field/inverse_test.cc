#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class InverseTest : public testing::Test {};
using Fields = testing::Types<Fr, Fq, Fq2>;
TYPED_TEST_SUITE(InverseTest, Fields);

TYPED_TEST(InverseTest, InvertsEdgeAndRandomValues) {
  Random random(3);
  std::vector<TypeParam> samples = Elements<TypeParam>::Edge();
  for (int i = 0; i < 2000; ++i) samples.push_back(Elements<TypeParam>::Uniform(random));
  for (const TypeParam& x : samples) ASSERT_EQ(x.Inverse() * x, x.IsZero() ? x : TypeParam::One());
}

TYPED_TEST(InverseTest, InvertsSmallNumbersAndPowersOfTwoAndTheirNegatives) {
  TypeParam x = TypeParam::One();
  for (int i = 0; i < 600; ++i) {
    ASSERT_EQ(x.Inverse() * x, TypeParam::One()) << "2^" << i;
    ASSERT_EQ((-x).Inverse() * -x, TypeParam::One()) << "-2^" << i;
    x = x.Double();
  }
  TypeParam small = TypeParam::Zero();
  EXPECT_EQ(small.Inverse(), TypeParam::Zero());
  for (int i = 1; i < 300; ++i) {
    small += TypeParam::One();
    ASSERT_EQ(small.Inverse() * small, TypeParam::One()) << i;
  }
}

}  // namespace
}  // namespace proofmill::kernels
