#include "kernels/field/arithmetic.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/arithmetic_scope.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

TEST(ArithmeticTest, WhatIsSupportedRunsFromPortableUpwards) {
  const std::vector<Arithmetic> supported = SupportedArithmetics();

  ASSERT_FALSE(supported.empty());
  EXPECT_EQ(supported.front(), Arithmetic::kPortable);
  for (const Arithmetic arithmetic : supported)
    EXPECT_TRUE(Supported(arithmetic)) << ArithmeticName(arithmetic);
  EXPECT_TRUE(!Supported(Arithmetic::kFma) || Supported(Arithmetic::kAdx));
  EXPECT_TRUE(!Supported(Arithmetic::kIfma) || Supported(Arithmetic::kFma));
}

TEST(ArithmeticTest, TheBestIsChosenAtStartAndAnotherCanBe) {
  EXPECT_EQ(CurrentArithmetic(), SupportedArithmetics().back());

  {
    const ArithmeticScope scope(Arithmetic::kPortable);
    EXPECT_EQ(CurrentArithmetic(), Arithmetic::kPortable);
  }
  EXPECT_EQ(CurrentArithmetic(), SupportedArithmetics().back());
}

// The compiler's evaluation is portable whatever the CPU has.
template <typename F>
constexpr F kConstantProduct = F::FromMontgomery({{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, 5}}) *
                               F::FromMontgomery({{~uint64_t{0}, 1, ~uint64_t{0}, ~uint64_t{0} >> 3}});

template <typename F>
class ProductTest : public testing::Test {};
using PrimeFields = testing::Types<Fq, Fr>;
TYPED_TEST_SUITE(ProductTest, PrimeFields);

TYPED_TEST(ProductTest, EveryArithmeticGivesThePortableProduct) {
  std::vector<TypeParam> samples = Elements<TypeParam>::Edge();
  Random random(3);
  for (int i = 0; i < 300; ++i) samples.push_back(Elements<TypeParam>::Uniform(random));
  std::vector<TypeParam> expected;
  {
    const ArithmeticScope scope(Arithmetic::kPortable);
    for (const TypeParam& a : samples) {
      for (const TypeParam& b : samples) expected.push_back(a * b);
    }
  }

  for (const Arithmetic arithmetic : SupportedArithmetics()) {
    const ArithmeticScope scope(arithmetic);
    size_t i = 0;
    for (const TypeParam& a : samples) {
      for (const TypeParam& b : samples) ASSERT_EQ(a * b, expected[i++]) << ArithmeticName(arithmetic);
    }
    EXPECT_EQ(TypeParam::FromMontgomery({{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, 5}}) *
                  TypeParam::FromMontgomery({{~uint64_t{0}, 1, ~uint64_t{0}, ~uint64_t{0} >> 3}}),
              kConstantProduct<TypeParam>)
        << ArithmeticName(arithmetic);
  }
}

TYPED_TEST(ProductTest, InversionByDivisionStepsAgreesWithFermat) {
  std::vector<TypeParam> samples = Elements<TypeParam>::Edge();
  for (uint32_t k = 0; k < 254; ++k) {
    if (TypeParam::IsCanonical(PowerOfTwo(k))) samples.push_back(TypeParam::FromMontgomery(PowerOfTwo(k)));
  }
  Random random(4);
  for (int i = 0; i < 2000; ++i) samples.push_back(Elements<TypeParam>::Uniform(random));

  for (const TypeParam& x : samples) ASSERT_EQ(x.Inverse(), x.InverseByFermat());
}

}  // namespace
}  // namespace proofmill::kernels
