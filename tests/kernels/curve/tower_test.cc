// The tower against known answers of an independent program (make_bn254_vectors.py), and its shortcuts
// against plain multiplication. The field laws are in field_law_test.cc.

#include "kernels/curve/tower.h"

#include "gtest/gtest.h"
#include "kernels/curve/pairing.h"
#include "tests/kernels/curve/bn254_vectors.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

Fq12 ReadFq12(const char* const (&hex)[12]) {
  Fq2 c[6];
  for (int i = 0; i < 6; ++i) c[i] = {FqFromHex(hex[2 * i]), FqFromHex(hex[2 * i + 1])};
  return {{c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
}

TEST(TowerTest, ProductInverseAndFrobeniusAreThoseOfTheIndependentProgram) {
  const Fq12 a = ReadFq12(vectors::kFq12A);
  const Fq12 b = ReadFq12(vectors::kFq12B);

  EXPECT_EQ(a * b, ReadFq12(vectors::kFq12Product));
  EXPECT_EQ(a.Inverse(), ReadFq12(vectors::kFq12Inverse));
  EXPECT_EQ(a.Frobenius(1), ReadFq12(vectors::kFq12Frobenius1));
  EXPECT_EQ(a.Frobenius(2), ReadFq12(vectors::kFq12Frobenius2));
  EXPECT_EQ(a.Frobenius(3), ReadFq12(vectors::kFq12Frobenius3));
  EXPECT_EQ(FinalExponentiation(a), ReadFq12(vectors::kFq12FinalExponentiation));
}

TEST(TowerTest, TheGeneratorsOfTheTowerSatisfyTheirEquations) {
  const Fq2 u{Fq::Zero(), Fq::One()};
  const Fq2 xi{Fq::FromUint64(9), Fq::One()};
  const Fq6 v{Fq2::Zero(), Fq2::One(), Fq2::Zero()};
  const Fq12 w{Fq6::Zero(), Fq6::One()};

  EXPECT_EQ(u * u, -Fq2::One());
  EXPECT_EQ(v * v * v, (Fq6{xi, Fq2::Zero(), Fq2::Zero()}));
  EXPECT_EQ(w * w, (Fq12{v, Fq6::Zero()}));
}

TEST(TowerTest, SparseProductsAreTheFullProducts) {
  Random random(4);
  const Fq2 xi{Fq::FromUint64(9), Fq::One()};
  for (int i = 0; i < 50; ++i) {
    const Fq12 f = Elements<Fq12>::Uniform(random);
    const Fq2 a = Elements<Fq2>::Uniform(random);
    const Fq2 b = Elements<Fq2>::Uniform(random);
    const Fq2 c = Elements<Fq2>::Uniform(random);

    EXPECT_EQ(MulByXi(a), a * xi);
    EXPECT_EQ(f.c0.MulByV(), f.c0 * (Fq6{Fq2::Zero(), Fq2::One(), Fq2::Zero()}));
    EXPECT_EQ(f.c0.MulBy01(a, b), f.c0 * (Fq6{a, b, Fq2::Zero()}));
    EXPECT_EQ(f.c0 * a, f.c0 * (Fq6{a, Fq2::Zero(), Fq2::Zero()}));
    EXPECT_EQ(f.MulByLine(a, b, c), f * (Fq12{{a, Fq2::Zero(), Fq2::Zero()}, {b, c, Fq2::Zero()}}));
  }
}

TEST(TowerTest, FrobeniusRespectsSumsAndProductsAndHasOrderTwelve) {
  Random random(5);
  const Fq12 a = Elements<Fq12>::Uniform(random);
  const Fq12 b = Elements<Fq12>::Uniform(random);
  for (const int power : {1, 2, 3}) {
    EXPECT_EQ((a + b).Frobenius(power), a.Frobenius(power) + b.Frobenius(power));
    EXPECT_EQ((a * b).Frobenius(power), a.Frobenius(power) * b.Frobenius(power));
  }
  EXPECT_EQ(a.Frobenius(1).Frobenius(1), a.Frobenius(2));
  EXPECT_EQ(a.Frobenius(1).Frobenius(2), a.Frobenius(3));
  EXPECT_EQ(a.Frobenius(3).Frobenius(3), a.Conjugate());
  Fq12 around = a;
  for (int i = 0; i < 12; ++i) around = around.Frobenius(1);
  EXPECT_EQ(around, a);
}

TEST(TowerTest, CyclotomicSquaresAreSquaresInTheCyclotomicSubgroup) {
  Random random(6);
  for (int i = 0; i < 20; ++i) {
    Fq12 f = Elements<Fq12>::Uniform(random);
    f = f.Conjugate() * f.Inverse();  // f^(q^6 - 1)
    f = f.Frobenius(2) * f;           // f^(q^2 + 1)

    EXPECT_EQ(f.CyclotomicSquare(), f.Square());
    EXPECT_EQ(f * f.Conjugate(), Fq12::One());
  }
}

TEST(TowerTest, ConjugationInFq2IsTheFrobenius) {
  Random random(7);
  const Fq2 a = Elements<Fq2>::Uniform(random);
  Fq2 power = Fq2::One();
  for (size_t i = 256; i-- > 0;) {
    power = power.Square();
    if (Fq::kModulus.Bit(i) != 0) power *= a;
  }

  EXPECT_EQ(a.Conjugate(), power);
}

}  // namespace
}  // namespace proofmill::kernels
