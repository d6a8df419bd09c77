// The laws of a field, for every field of the project, over edge values and random ones.

#include <vector>

#include "gtest/gtest.h"
#include "kernels/curve/tower.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class FieldLawTest : public testing::Test {
 protected:
  FieldLawTest() : samples_(Elements<F>::Edge()) {
    for (int i = 0; i < 20; ++i) samples_.push_back(Elements<F>::Uniform(random_));
  }

  // Calls law(a, b) for all pairs of samples.
  template <typename Law>
  void ForAllPairs(const Law& law) {
    for (const F& a : samples_) {
      for (const F& b : samples_) {
        law(a, b);
        if (this->HasFailure()) return;
      }
    }
  }
  const F& AnySample() { return samples_[random_() % samples_.size()]; }

  Random random_{1};
  std::vector<F> samples_;
};

using Fields = testing::Types<Fr, Fq, Fq2, Fq6, Fq12>;
TYPED_TEST_SUITE(FieldLawTest, Fields);

TYPED_TEST(FieldLawTest, AdditionAndMultiplicationCommute) {
  this->ForAllPairs([](const TypeParam& a, const TypeParam& b) {
    ASSERT_EQ(a + b, b + a);
    ASSERT_EQ(a * b, b * a);
  });
}

TYPED_TEST(FieldLawTest, AdditionAndMultiplicationAssociateAndDistribute) {
  for (int i = 0; i < 3000; ++i) {
    const TypeParam& a = this->AnySample();
    const TypeParam& b = this->AnySample();
    const TypeParam& c = this->AnySample();
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ(a * (b - c), a * b - a * c);
  }
}

TYPED_TEST(FieldLawTest, ZeroAndOneAreNeutralAndZeroAnnihilates) {
  ASSERT_NE(TypeParam::Zero(), TypeParam::One());
  for (const TypeParam& a : this->samples_) {
    ASSERT_EQ(a + TypeParam::Zero(), a);
    ASSERT_EQ(a * TypeParam::One(), a);
    ASSERT_TRUE((a * TypeParam::Zero()).IsZero());
  }
}

TYPED_TEST(FieldLawTest, SubtractionUndoesAdditionAndNegationIsSubtractionFromZero) {
  this->ForAllPairs([](const TypeParam& a, const TypeParam& b) {
    ASSERT_EQ(a + b - b, a);
    ASSERT_EQ(a - b, a + -b);
    ASSERT_EQ(a - b, -(b - a));
  });
  for (const TypeParam& a : this->samples_) ASSERT_TRUE((a + -a).IsZero());
}

TYPED_TEST(FieldLawTest, DoubleAndSquareAreSumAndProduct) {
  for (const TypeParam& a : this->samples_) {
    ASSERT_EQ(a.Double(), a + a);
    ASSERT_EQ(a.Square(), a * a);
  }
}

TYPED_TEST(FieldLawTest, CompoundAssignmentsAreTheOperators) {
  this->ForAllPairs([](const TypeParam& a, const TypeParam& b) {
    TypeParam sum = a, difference = a, product = a;
    sum += b;
    difference -= b;
    product *= b;
    ASSERT_EQ(sum, a + b);
    ASSERT_EQ(difference, a - b);
    ASSERT_EQ(product, a * b);
  });
}

TYPED_TEST(FieldLawTest, AnOperandMayBeAssignedToItself) {
  for (const TypeParam& a : this->samples_) {
    TypeParam x = a;
    const TypeParam& same = x;
    x *= same;
    ASSERT_EQ(x, a * a);
    x = a;
    x -= same;
    ASSERT_TRUE(x.IsZero());
  }
}

TYPED_TEST(FieldLawTest, InverseTimesElementIsOneAndZeroHasInverseZero) {
  ASSERT_TRUE(TypeParam::Zero().Inverse().IsZero());
  for (const TypeParam& a : this->samples_) {
    if (!a.IsZero()) {
      ASSERT_EQ(a * a.Inverse(), TypeParam::One());
    }
  }
}

TYPED_TEST(FieldLawTest, AProductIsZeroOnlyIfAFactorIs) {
  this->ForAllPairs(
      [](const TypeParam& a, const TypeParam& b) { ASSERT_EQ((a * b).IsZero(), a.IsZero() || b.IsZero()); });
}

TYPED_TEST(FieldLawTest, EqualityIsReflexiveAndTellsElementsApart) {
  for (const TypeParam& a : this->samples_) {
    ASSERT_EQ(a, a);
    ASSERT_NE(a, a + TypeParam::One());
  }
}

}  // namespace
}  // namespace proofmill::kernels
