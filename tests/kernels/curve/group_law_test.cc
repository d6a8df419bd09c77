// The laws of a group for G1 and G2, and the XYZZ formulas against chord and tangent.

#include <vector>

#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/affine_curve.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class GroupLawTest : public testing::Test {
 protected:
  using Point = Affine<F>;
  using Sum = Xyzz<F>;

  // Infinity, small multiples of the generator with their negatives, and one far away.
  GroupLawTest() : points_{Point::Infinity()} {
    for (uint64_t k : {1u, 2u, 3u, 4u, 7u}) {
      points_.push_back(Multiple<F>(k));
      points_.push_back(-Multiple<F>(k));
    }
    points_.push_back(Multiple<F>(RandomBelow<FrParams>(random_)));
  }

  // p with other coordinates of the same point.
  Sum Rescaled(const Point& p) {
    const F s = Elements<F>::Uniform(random_);
    const F zz = s.Square();
    const F zzz = zz * s;
    return p.IsInfinity() ? Sum{p.x, p.y, F::Zero(), F::Zero()} : Sum{p.x * zz, p.y * zzz, zz, zzz};
  }

  Random random_{3};
  std::vector<Point> points_;
};

using Coordinates = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(GroupLawTest, Coordinates);

TYPED_TEST(GroupLawTest, BothAdditionsAreChordAndTangent) {
  for (const auto& a : this->points_) {
    for (const auto& b : this->points_) {
      const auto expected = oracle::AddPoints(a, b);
      ASSERT_EQ((this->Rescaled(a) + b).ToAffine(), expected);
      ASSERT_EQ((this->Rescaled(a) + this->Rescaled(b)).ToAffine(), expected);
    }
  }
}

TYPED_TEST(GroupLawTest, DoublingIsAddingToItself) {
  for (const auto& a : this->points_) {
    ASSERT_EQ(this->Rescaled(a).Double().ToAffine(), oracle::AddPoints(a, a));
    ASSERT_EQ(this->Rescaled(a).Double(), this->Rescaled(a) + a);
  }
}

TYPED_TEST(GroupLawTest, AdditionCommutesAndAssociates) {
  for (const auto& a : this->points_) {
    for (const auto& b : this->points_) {
      ASSERT_EQ(this->Rescaled(a) + this->Rescaled(b), this->Rescaled(b) + this->Rescaled(a));
      for (const auto& c : this->points_) {
        ASSERT_EQ(this->Rescaled(a) + this->Rescaled(b) + c, this->Rescaled(a) + (this->Rescaled(b) + c));
      }
    }
  }
}

TYPED_TEST(GroupLawTest, APointPlusItsNegativeIsInfinity) {
  for (const auto& a : this->points_) {
    ASSERT_TRUE((this->Rescaled(a) + -a).IsInfinity());
    ASSERT_TRUE((this->Rescaled(a) + -this->Rescaled(a)).IsInfinity());
  }
}

TYPED_TEST(GroupLawTest, EqualityIsOfPointsAndNotOfCoordinates) {
  for (size_t i = 0; i < this->points_.size(); ++i) {
    for (size_t j = 0; j < this->points_.size(); ++j) {
      ASSERT_EQ(this->Rescaled(this->points_[i]) == this->Rescaled(this->points_[j]), i == j);
      ASSERT_EQ(this->Rescaled(this->points_[i]) != this->Rescaled(this->points_[j]), i != j);
    }
  }
}

TYPED_TEST(GroupLawTest, SumsStayOnTheCurveAndInfinityCountsAsOnIt) {
  for (const auto& a : this->points_) {
    ASSERT_TRUE(IsOnCurve(a));
    for (const auto& b : this->points_) ASSERT_TRUE(IsOnCurve((this->Rescaled(a) + b).ToAffine()));
  }
  auto off = this->points_.back();
  off.y += TypeParam::One();
  EXPECT_FALSE(IsOnCurve(off));
}

TYPED_TEST(GroupLawTest, TheGeneratorHasOrderR) {
  const auto generator = Xyzz<TypeParam>::FromAffine(Generator<TypeParam>::kValue);
  U256 r_less_one = Fr::kModulus;
  r_less_one.limb[0] -= 1;

  EXPECT_TRUE(ScalarMulVartime(generator, Fr::kModulus).IsInfinity());
  EXPECT_EQ(ScalarMulVartime(generator, r_less_one), -generator);
}

TYPED_TEST(GroupLawTest, ScalarMultiplicationIsTheOraclesAndDistributes) {
  const auto generator = Xyzz<TypeParam>::FromAffine(Generator<TypeParam>::kValue);
  for (int i = 0; i < 5; ++i) {
    const Fr a = Elements<Fr>::Uniform(this->random_);
    const Fr b = Elements<Fr>::Uniform(this->random_);
    const auto a_times = ScalarMulVartime(generator, a.ToPlain());

    ASSERT_EQ(a_times.ToAffine(), oracle::MultiplyPoint(generator.ToAffine(), a.ToPlain()));
    ASSERT_EQ(ScalarMulVartime(generator, (a + b).ToPlain()),
              a_times + ScalarMulVartime(generator, b.ToPlain()));
    ASSERT_EQ(ScalarMulVartime(generator, (a * b).ToPlain()), ScalarMulVartime(a_times, b.ToPlain()));
  }
  EXPECT_TRUE(ScalarMulVartime(generator, {}).IsInfinity());
}

TYPED_TEST(GroupLawTest, ABatchBecomesAffineWithInfinitiesKept) {
  std::vector<Xyzz<TypeParam>> sums;
  for (const auto& a : this->points_) {
    sums.push_back(this->Rescaled(a));
    sums.push_back(Xyzz<TypeParam>::Infinity());
  }
  std::vector<Affine<TypeParam>> out(sums.size());

  BatchToAffine(sums.data(), out.data(), sums.size());

  for (size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(out[i], i % 2 == 0 ? this->points_[i / 2] : Affine<TypeParam>::Infinity());
  }
  BatchToAffine<TypeParam>(nullptr, nullptr, 0);
}

}  // namespace
}  // namespace proofmill::kernels
