#include "kernels/curve/pairing.h"

#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/curve/alphabeta_vectors.h"
#include "tests/kernels/curve/bn254_vectors.h"
#include "tests/kernels/curve/eip_vectors.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

// Reads 32-byte words of an EIP-196/197 encoding one after another.
class WordReader {
 public:
  explicit WordReader(std::string_view hex) : hex_(hex) {}
  bool AtEnd() const { return hex_.empty(); }
  U256 Word() {
    const U256 word = HexToU256(hex_.substr(0, 64));
    hex_.remove_prefix(64);
    return word;
  }
  G1Affine G1() {
    const Fq x = Fq::FromPlain(Word());
    return {x, Fq::FromPlain(Word())};
  }
  Fq2 ImaginaryFirst() {
    const Fq c1 = Fq::FromPlain(Word());
    return {Fq::FromPlain(Word()), c1};
  }
  G2Affine G2() {
    const Fq2 x = ImaginaryFirst();
    return {x, ImaginaryFirst()};
  }

 private:
  std::string_view hex_;
};

G1Affine ReadG1(const char* const (&hex)[2]) { return {FqFromHex(hex[0]), FqFromHex(hex[1])}; }
G2Affine ReadG2(const char* const (&hex)[4]) {
  return {{FqFromHex(hex[0]), FqFromHex(hex[1])}, {FqFromHex(hex[2]), FqFromHex(hex[3])}};
}
Fq12 ReadFq12(const char* const (&hex)[12]) {
  Fq2 c[6];
  for (int i = 0; i < 6; ++i) c[i] = {FqFromHex(hex[2 * i]), FqFromHex(hex[2 * i + 1])};
  return {{c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
}

Fq12 PowVartime(const Fq12& base, const U256& exponent) {
  Fq12 out = Fq12::One();
  for (size_t i = 256; i-- > 0;) {
    out = out.Square();
    if (exponent.Bit(i) != 0) out *= base;
  }
  return out;
}

TEST(PrecompileVectorTest, AdditionsOfEip196) {
  for (const vectors::EipVector& vector : vectors::kEip196Add) {
    WordReader input(vector.input), expected(vector.expected);
    const G1Affine a = input.G1();
    const G1Affine b = input.G1();

    EXPECT_EQ((G1Xyzz::FromAffine(a) + b).ToAffine(), expected.G1()) << vector.name;
    EXPECT_TRUE(IsOnCurve(a) && IsOnCurve(b)) << vector.name;
  }
}

TEST(PrecompileVectorTest, MultiplicationsOfEip196) {
  for (const vectors::EipVector& vector : vectors::kEip196Mul) {
    WordReader input(vector.input), expected(vector.expected);
    const G1Affine base = input.G1();

    EXPECT_EQ(ScalarMulVartime(G1Xyzz::FromAffine(base), input.Word()).ToAffine(), expected.G1())
        << vector.name;
  }
}

TEST(PrecompileVectorTest, PairingChecksOfEip197) {
  for (const vectors::EipVector& vector : vectors::kEip197Pairing) {
    WordReader input(vector.input);
    std::vector<PairingTerm> terms;
    while (!input.AtEnd()) {
      const G1Affine g1 = input.G1();
      terms.push_back({g1, input.G2()});
      EXPECT_TRUE(IsOnCurve(terms.back().g1) && IsOnCurve(terms.back().g2)) << vector.name;
      EXPECT_TRUE(IsInG2Subgroup(terms.back().g2)) << vector.name;
    }

    EXPECT_EQ(PairingProductIsOne(terms.data(), terms.size()), vector.expected[0] == '1') << vector.name;
  }
}

TEST(PairingTest, IsTheElementThatSnarkjsWritesAsAlphaBeta) {
  for (const vectors::AlphaBetaVector& vector : vectors::kAlphaBeta) {
    EXPECT_EQ(Pairing(ReadG1(vector.alpha1), ReadG2(vector.beta2)), ReadFq12(vector.alphabeta))
        << vector.circuit;
  }
}

TEST(PairingTest, OfTheGeneratorsIsThatOfTheIndependentProgram) {
  EXPECT_EQ(Pairing(kG1Generator, kG2Generator), ReadFq12(vectors::kGeneratorPairing));
}

TEST(PairingTest, IsBilinear) {
  Random random(8);
  for (int i = 0; i < 5; ++i) {
    const Fr a = Elements<Fr>::Uniform(random);
    const Fr b = Elements<Fr>::Uniform(random);
    const G1Affine p = Multiple<Fq>(a.ToPlain());
    const G2Affine q = Multiple<Fq2>(b.ToPlain());

    const Fq12 value = Pairing(p, q);

    EXPECT_EQ(value, Pairing(Multiple<Fq>((a * b).ToPlain()), kG2Generator));
    EXPECT_EQ(value, Pairing(kG1Generator, Multiple<Fq2>((a * b).ToPlain())));
    EXPECT_EQ(value, PowVartime(Pairing(kG1Generator, kG2Generator), (a * b).ToPlain()));
    EXPECT_EQ(Pairing(-p, q), value.Conjugate());
    EXPECT_EQ(Pairing(p, -q), value.Conjugate());
  }
}

TEST(PairingTest, IsNotDegenerateAndHasOrderR) {
  const Fq12 value = Pairing(kG1Generator, kG2Generator);

  EXPECT_NE(value, Fq12::One());
  EXPECT_EQ(PowVartime(value, Fr::kModulus), Fq12::One());
}

TEST(PairingTest, WithInfinityIsOne) {
  EXPECT_EQ(Pairing(G1Affine::Infinity(), kG2Generator), Fq12::One());
  EXPECT_EQ(Pairing(kG1Generator, G2Affine::Infinity()), Fq12::One());
  EXPECT_EQ(Pairing(G1Affine::Infinity(), G2Affine::Infinity()), Fq12::One());
}

TEST(PairingTest, TheMillerProductIsTheProductOfMillerValues) {
  const PairingTerm terms[] = {{Multiple<Fq>(5), Multiple<Fq2>(7)},
                               {G1Affine::Infinity(), Multiple<Fq2>(3)},
                               {Multiple<Fq>(11), Multiple<Fq2>(13)}};
  Fq12 product = Fq12::One();
  for (const PairingTerm& term : terms) product *= MillerLoop(term.g1, term.g2);

  // Up to factors that the final exponentiation removes.
  EXPECT_EQ(FinalExponentiation(MillerLoopProduct(terms, 3)), FinalExponentiation(product));
}

TEST(PairingTest, APreparedPointGivesTheSamePairings) {
  for (const uint64_t k : {1u, 2u, 77u}) {
    const G2Affine q = Multiple<Fq2>(k);
    const PreparedG2 prepared(q);
    for (const uint64_t m : {1u, 5u}) {
      const G1Affine p = Multiple<Fq>(m);
      EXPECT_EQ(FinalExponentiation(MillerLoop(p, prepared)), Pairing(p, q)) << k << " " << m;
    }
    EXPECT_EQ(MillerLoop(G1Affine::Infinity(), prepared), Fq12::One());
  }
  EXPECT_EQ(MillerLoop(kG1Generator, PreparedG2(G2Affine::Infinity())), Fq12::One());
}

TEST(CheckedMillerTest, FindsOutAboutTheSubgroupOnTheWay) {
  Random random(11);
  const G2Xyzz small_order = G2Xyzz::FromAffine(ReadG2(vectors::kTwistPointOfOrder10069));
  const G2Xyzz full_order = G2Xyzz::FromAffine(ReadG2(vectors::kTwistPoint));
  std::vector<G2Affine> points = {G2Affine::Infinity(),  kG2Generator,
                                  -kG2Generator,         small_order.ToAffine(),
                                  full_order.ToAffine(), ReadG2(vectors::kTwistPointOfOrder10069R)};
  for (int i = 0; i < 20; ++i) {
    const G2Affine in_g2 = Multiple<Fq2>(RandomBelow<FrParams>(random));
    const U256 k{{i == 0 ? uint64_t{0} : random() % 10069, 0, 0, 0}};
    points.push_back((ScalarMulVartime(small_order, k) + in_g2).ToAffine());
    points.push_back(ScalarMulVartime(small_order, k).ToAffine());
  }
  for (const G2Affine& q : points) {
    for (const G1Affine& p : {kG1Generator, G1Affine::Infinity()}) {
      const CheckedMiller miller = CheckedMillerLoop(p, q);

      EXPECT_EQ(miller.in_g2, IsInG2Subgroup(q));
      if (miller.in_g2) {
        EXPECT_EQ(miller.value, MillerLoop(p, q));
      }
    }
  }
}

TEST(PairingProductTest, TellsBalancedFromUnbalancedProducts) {
  const G1Affine minus_77 = -Multiple<Fq>(77);
  const PairingTerm balanced[] = {{Multiple<Fq>(5), Multiple<Fq2>(7)},
                                  {Multiple<Fq>(6), Multiple<Fq2>(7)},
                                  {minus_77, Multiple<Fq2>(1)},
                                  {G1Affine::Infinity(), Multiple<Fq2>(9)}};
  PairingTerm unbalanced[4];
  for (int i = 0; i < 4; ++i) unbalanced[i] = balanced[i];
  unbalanced[2].g1 = -Multiple<Fq>(78);

  EXPECT_TRUE(PairingProductIsOne(balanced, 4));
  EXPECT_FALSE(PairingProductIsOne(unbalanced, 4));
  EXPECT_FALSE(PairingProductIsOne(balanced, 2));
  EXPECT_TRUE(PairingProductIsOne(nullptr, 0));
}

TEST(G2SubgroupTest, ContainsTheMultiplesOfTheGenerator) {
  Random random(9);
  EXPECT_TRUE(IsInG2Subgroup(G2Affine::Infinity()));
  for (uint64_t k = 1; k < 10; ++k) EXPECT_TRUE(IsInG2Subgroup(Multiple<Fq2>(k)));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(IsInG2Subgroup(Multiple<Fq2>(RandomBelow<FrParams>(random))));
}

TEST(G2SubgroupTest, ExcludesPointsOfOtherOrders) {
  const G2Affine full_order = ReadG2(vectors::kTwistPoint);
  const G2Affine small_order = ReadG2(vectors::kTwistPointOfOrder10069);
  const G2Affine mixed_order = ReadG2(vectors::kTwistPointOfOrder10069R);
  for (const G2Affine& p : {full_order, small_order, mixed_order}) {
    ASSERT_TRUE(IsOnCurve(p));
    ASSERT_FALSE(p.IsInfinity());

    EXPECT_FALSE(IsInG2Subgroup(p));
    EXPECT_FALSE(IsInG2Subgroup(-p));
  }
}

// The definition is [r]P = 0; the endomorphism must agree with it on every coset of the subgroup it meets.
TEST(G2SubgroupTest, AgreesWithMultiplicationByR) {
  const G2Xyzz small_order = G2Xyzz::FromAffine(ReadG2(vectors::kTwistPointOfOrder10069));
  const G2Xyzz full_order = G2Xyzz::FromAffine(ReadG2(vectors::kTwistPoint));
  ASSERT_TRUE(ScalarMulVartime(small_order, U256{{10069, 0, 0, 0}}).IsInfinity());
  Random random(10);
  for (int i = 0; i < 30; ++i) {
    const G2Affine in_g2 = Multiple<Fq2>(RandomBelow<FrParams>(random));
    const U256 k{{i < 3 ? 10069u * static_cast<uint64_t>(i) : random() % 10069, 0, 0, 0}};
    for (const G2Xyzz& outside : {small_order, full_order}) {
      const G2Xyzz p = ScalarMulVartime(outside, k) + in_g2;

      EXPECT_EQ(IsInG2Subgroup(p.ToAffine()), ScalarMulVartime(p, Fr::kModulus).IsInfinity());
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
