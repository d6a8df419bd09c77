// The prime fields against bit-by-bit arithmetic on plain integers, and their constants against the values of
// snarkjs (groth16 documentation, section G; computed there with Python's integers).

#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/modular.h"

namespace proofmill::kernels {
namespace {

template <typename Params>
struct PrimeFieldTest : public testing::Test {
  PrimeFieldTest() : integers(EdgeIntegers<Params>()) {
    for (int i = 0; i < 20; ++i) integers.push_back(RandomBelow<Params>(random));
  }

  Random random{2};
  std::vector<U256> integers;
};

using AllParams = testing::Types<FrParams, FqParams>;
TYPED_TEST_SUITE(PrimeFieldTest, AllParams);

TYPED_TEST(PrimeFieldTest, SumDifferenceAndProductAreThoseOfPlainIntegers) {
  using F = MontgomeryField<TypeParam>;
  const U256 p = TypeParam::kModulus;
  for (const U256& a : this->integers) {
    for (const U256& b : this->integers) {
      const F x = F::FromPlain(a);
      const F y = F::FromPlain(b);
      ASSERT_EQ((x + y).ToPlain(), oracle::AddModulo(a, b, p));
      ASSERT_EQ((x - y).ToPlain(), oracle::SubModulo(a, b, p));
      ASSERT_EQ((x * y).ToPlain(), oracle::MulModulo(a, b, p));
    }
  }
}

TYPED_TEST(PrimeFieldTest, TheStoredFormIsTheValueTimesTwoToThe256AndReduced) {
  using F = MontgomeryField<TypeParam>;
  const U256 p = TypeParam::kModulus;
  for (const U256& a : this->integers) {
    U256 shifted = a;
    for (int i = 0; i < 256; ++i) shifted = oracle::AddModulo(shifted, shifted, p);

    ASSERT_EQ(F::FromPlain(a).montgomery(), shifted);
    ASSERT_EQ(F::FromPlain(a).ToPlain(), a);
    ASSERT_EQ(F::FromMontgomery(shifted).ToPlain(), a);
  }
}

TYPED_TEST(PrimeFieldTest, ResultsAreFullyReducedWhateverTheStoredForms) {
  using F = MontgomeryField<TypeParam>;
  for (const U256& a : this->integers) {
    for (const U256& b : this->integers) {
      const F x = F::FromMontgomery(a);
      const F y = F::FromMontgomery(b);
      ASSERT_TRUE(F::IsCanonical((x + y).montgomery()));
      ASSERT_TRUE(F::IsCanonical((x - y).montgomery()));
      ASSERT_TRUE(F::IsCanonical((x * y).montgomery()));
      ASSERT_TRUE(F::IsCanonical((-x).montgomery()));
    }
  }
}

// The run-time paths may use instructions that the compiler's own evaluation cannot.
TYPED_TEST(PrimeFieldTest, TheCompilerAndTheProgramComputeTheSame) {
  using F = MontgomeryField<TypeParam>;
  constexpr U256 kStored{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, 0x2fffffffffffffffull}};
  constexpr F a = F::FromMontgomery(kStored);
  constexpr F b = a.Square() - F::One();
  constexpr F sum = a + b, difference = a - b, product = a * b;
  volatile bool unknown = true;  // keeps the second half out of the compiler's hands
  const F x = unknown ? a : F::Zero();
  const F y = unknown ? b : F::Zero();

  EXPECT_EQ(x + y, sum);
  EXPECT_EQ(x - y, difference);
  EXPECT_EQ(y - x, -difference);
  EXPECT_EQ(x * y, product);
}

TYPED_TEST(PrimeFieldTest, IsCanonicalAcceptsExactlyTheIntegersBelowTheModulus) {
  using F = MontgomeryField<TypeParam>;
  const U256 p = TypeParam::kModulus;
  for (const U256& a : this->integers) EXPECT_TRUE(F::IsCanonical(a));

  U256 above = p;
  above.limb[0] += 1;
  EXPECT_FALSE(F::IsCanonical(p));
  EXPECT_FALSE(F::IsCanonical(above));
  EXPECT_FALSE(F::IsCanonical(PowerOfTwo(254)));
  EXPECT_FALSE(F::IsCanonical({{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}}));
}

TYPED_TEST(PrimeFieldTest, PowersFollowFermatAndTheEmptyProductIsOne) {
  using F = MontgomeryField<TypeParam>;
  const U256 exponent = oracle::Subtract(TypeParam::kModulus, U256{{1, 0, 0, 0}});
  for (const U256& a : this->integers) {
    const F x = F::FromPlain(a);
    EXPECT_EQ(x.PowVartime({}), F::One());
    EXPECT_EQ(x.PowVartime({{5, 0, 0, 0}}), x * x * x * x * x);
    EXPECT_EQ(x.PowVartime(exponent), x.IsZero() ? F::Zero() : F::One());
  }
}

TEST(FrConstantsTest, AreThoseOfSnarkjs) {
  EXPECT_EQ(Fr::kModulus, HexToU256("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"));
  EXPECT_EQ(FrParams::kR, HexToU256("0e0a77c19a07df2f666ea36f7879462e36fc76959f60cd29ac96341c4ffffffb"));
  EXPECT_EQ(FrParams::kR2, HexToU256("0216d0b17f4e44a58c49833d53bb808553fe3ab1e35c59e31bb8e645ae216da7"));
}

TEST(FqConstantsTest, AreThoseOfSnarkjs) {
  EXPECT_EQ(Fq::kModulus, HexToU256("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"));
  EXPECT_EQ(FqParams::kR, HexToU256("0e0a77c19a07df2f666ea36f7879462c0a78eb28f5c70b3dd35d438dc58f0d9d"));
  EXPECT_EQ(FqParams::kR2, HexToU256("06d89f71cab8351f47ab1eff0a417ff6b5e71911d44501fbf32cfc5b538afa89"));
}

TEST(FrRootOfUnityTest, IsTheSequenceOfSnarkjs) {
  const auto root = [](uint32_t log2_n) { return FrRootOfUnity(log2_n).ToPlain(); };

  EXPECT_EQ(root(28), HexToU256("2a3c09f0a58a7e8500e0a7eb8ef62abc402d111e41112ed49bd61b6e725b19f0"));
  EXPECT_EQ(root(23), HexToU256("0210fe635ab4c74d6b7bcf70bc23a1395680c64022dd991fb54d4506ab80c59d"));
  EXPECT_EQ(root(21), HexToU256("1ded8980ae2bdd1a4222150e8598fc8c58f50577ca5a5ce3b2c87885fcd0b523"));
  EXPECT_EQ(root(4), HexToU256("21082ca216cbbf4e1c6e4f4594dd508c996dfbe1174efb98b11509c6e306460b"));
  EXPECT_EQ(FrRootOfUnity(1), -Fr::One());
  EXPECT_EQ(FrRootOfUnity(0), Fr::One());
}

TEST(FrRootOfUnityTest, IsFiveToTheOddPartOfTheGroupOrder) {
  U256 exponent = oracle::Subtract(Fr::kModulus, U256{{1, 0, 0, 0}});
  for (int k = 0; k < 28; ++k) {
    for (size_t i = 0; i < 4; ++i) {
      exponent.limb[i] = exponent.limb[i] >> 1 | (i < 3 ? exponent.limb[i + 1] << 63 : 0);
    }
  }
  ASSERT_EQ(exponent.limb[0] & 1, 1u);

  EXPECT_EQ(Fr::FromUint64(5).PowVartime(exponent), FrRootOfUnity(28));
}

}  // namespace
}  // namespace proofmill::kernels
