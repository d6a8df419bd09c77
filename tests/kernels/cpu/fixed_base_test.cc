#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/parallel.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class FixedBaseTest : public testing::Test {
 protected:
  // Edge values and random ones, as many as fill several batches and a bit.
  FixedBaseTest() : scalars_(Elements<Fr>::Edge()) {
    Random random(14);
    while (scalars_.size() < 80) scalars_.push_back(Elements<Fr>::Uniform(random));
    for (size_t i = 0; i < 2000; ++i) scalars_.push_back(scalars_[i % 80]);
  }
  std::vector<Fr> scalars_;
};
using Coordinates = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(FixedBaseTest, Coordinates);

TYPED_TEST(FixedBaseTest, MultipliesTheBaseByEveryScalar) {
  const Affine<TypeParam> base = Multiple<TypeParam>(12345);
  const FixedBaseTable<TypeParam> table(base);
  for (const size_t threads : {1u, 3u}) {
    ThreadArena arena(threads);
    std::vector<Affine<TypeParam>> out(this->scalars_.size());

    arena.Execute([&] { table.Multiply(this->scalars_.data(), out.data(), out.size()); });

    for (size_t i = 0; i < 80; ++i) {
      const auto expected =
          ScalarMulVartime(Xyzz<TypeParam>::FromAffine(base), this->scalars_[i].ToPlain()).ToAffine();
      ASSERT_EQ(out[i], expected) << i;
      for (size_t j = i + 80; j < out.size(); j += 80) ASSERT_EQ(out[j], expected) << j;
    }
  }
}

TYPED_TEST(FixedBaseTest, MultiplesOfInfinityAreInfinity) {
  const FixedBaseTable<TypeParam> table(Affine<TypeParam>::Infinity());
  std::vector<Affine<TypeParam>> out(this->scalars_.size(), Generator<TypeParam>::kValue);

  table.Multiply(this->scalars_.data(), out.data(), out.size());

  for (const Affine<TypeParam>& p : out) EXPECT_TRUE(p.IsInfinity());
}

TYPED_TEST(FixedBaseTest, NoScalarsIsFine) {
  FixedBaseTable<TypeParam>(Generator<TypeParam>::kValue).Multiply(nullptr, nullptr, 0);
}

}  // namespace
}  // namespace proofmill::kernels
