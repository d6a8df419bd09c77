// Inversion by division steps, as the device does it, run on the host.

#include "kernels/field/divsteps.cuh"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename Params>
class DivstepsTest : public testing::Test {
 protected:
  using F = MontgomeryField<Params>;
  static void Check(const U256& a) {
    const U256 inverse = divsteps::Inverse<Params>(a);
    ASSERT_TRUE(F::IsCanonical(inverse));
    ASSERT_EQ(F::FromPlain(inverse) * F::FromPlain(a), F::One());
  }
};
using AllParams = testing::Types<FrParams, FqParams>;
TYPED_TEST_SUITE(DivstepsTest, AllParams);

TYPED_TEST(DivstepsTest, ZeroGivesZero) { EXPECT_EQ(divsteps::Inverse<TypeParam>(U256{}), U256{}); }

TYPED_TEST(DivstepsTest, EdgesAndPowersOfTwoAreInverted) {
  for (const U256& a : EdgeIntegers<TypeParam>()) {
    if (!a.IsZero()) this->Check(a);
  }
  for (uint32_t bit = 0; bit < 253; ++bit) this->Check(PowerOfTwo(bit));
}

TYPED_TEST(DivstepsTest, RandomElementsAreInverted) {
  Random random(30);
  for (int i = 0; i < 5000; ++i) this->Check(RandomBelow<TypeParam>(random));
}

}  // namespace
}  // namespace proofmill::kernels
