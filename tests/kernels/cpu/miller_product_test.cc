#include "kernels/cpu/miller_product.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/curve/bn254_vectors.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

G2Affine ReadG2(const char* const (&hex)[4]) {
  return {{FqFromHex(hex[0]), FqFromHex(hex[1])}, {FqFromHex(hex[2]), FqFromHex(hex[3])}};
}

class MillerProductTest : public testing::Test {
 protected:
  PairingTerm Draw() {
    return {Multiple<Fq>(RandomBelow<FrParams>(random_)), Multiple<Fq2>(RandomBelow<FrParams>(random_))};
  }
  std::vector<PairingTerm> Draw(size_t n) {
    std::vector<PairingTerm> terms;
    for (size_t i = 0; i < n; ++i) terms.push_back(Draw());
    return terms;
  }
  static void ExpectTheProduct(const std::vector<PairingTerm>& terms) {
    const CheckedMiller miller = MillerProduct(terms.data(), terms.size());

    EXPECT_TRUE(miller.in_g2);
    EXPECT_EQ(FinalExponentiation(miller.value),
              FinalExponentiation(MillerLoopProduct(terms.data(), terms.size())))
        << terms.size();
  }

  Random random_{41};
};

// Below, at and above the lanes of a vector, and the pairs of a run.
TEST_F(MillerProductTest, IsThatOfAllPairs) {
  for (const size_t n : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 17u, 19u, 23u, 24u, 25u, 33u}) {
    ExpectTheProduct(Draw(n));
  }
}

TEST_F(MillerProductTest, PairsWithAnInfinityCountAsOneWherever) {
  constexpr size_t kPairs = 9;
  const std::vector<PairingTerm> all = Draw(kPairs);
  for (size_t i = 0; i < kPairs; ++i) {
    std::vector<PairingTerm> terms = all;
    terms[i].g1 = G1Affine::Infinity();
    ExpectTheProduct(terms);
    terms[(i + 1) % kPairs].g2 = G2Affine::Infinity();
    ExpectTheProduct(terms);
    terms[i].g2 = G2Affine::Infinity();
    ExpectTheProduct(terms);
  }
  ExpectTheProduct({{G1Affine::Infinity(), G2Affine::Infinity()}});
}

TEST_F(MillerProductTest, EqualAndOppositePairsMayMeet) {
  const PairingTerm term = Draw();
  const PairingTerm opposite{-term.g1, term.g2};
  ExpectTheProduct(std::vector<PairingTerm>(11, term));
  ExpectTheProduct({term, opposite});
  ExpectTheProduct({term, term, opposite, {term.g1, -term.g2}, opposite});
  ExpectTheProduct({{kG1Generator, kG2Generator}, {kG1Generator, -kG2Generator}});

  const PairingTerm balanced[] = {term, opposite};
  EXPECT_EQ(FinalExponentiation(MillerProduct(balanced, 2).value), Fq12::One());
}

// Of edge values in the coordinates there are no points that could be chosen; multiples by small numbers are
// at least not random.
TEST_F(MillerProductTest, OfSmallMultiplesOfTheGenerators) {
  std::vector<PairingTerm> terms;
  for (uint64_t k = 1; k <= 40; ++k) {
    terms.push_back({Multiple<Fq>(k), Multiple<Fq2>(41 - k)});
    terms.push_back({-Multiple<Fq>(k), -Multiple<Fq2>(k)});
  }
  ExpectTheProduct(terms);
}

TEST_F(MillerProductTest, FindsAPointOutsideG2AtEveryPlace) {
  constexpr size_t kPairs = 11;
  const G2Xyzz small_order = G2Xyzz::FromAffine(ReadG2(vectors::kTwistPointOfOrder10069));
  const std::vector<PairingTerm> all = Draw(kPairs);
  ASSERT_TRUE(MillerProduct(all.data(), kPairs).in_g2);
  for (size_t i = 0; i < kPairs; ++i) {
    for (const G2Affine& outside :
         {small_order.ToAffine(), ReadG2(vectors::kTwistPoint), (small_order + all[i].g2).ToAffine(),
          ReadG2(vectors::kTwistPointOfOrder10069R)}) {
      for (const G1Affine& p : {all[i].g1, G1Affine::Infinity()}) {
        std::vector<PairingTerm> terms = all;
        terms[i] = {p, outside};
        EXPECT_FALSE(MillerProduct(terms.data(), kPairs).in_g2) << i;
      }
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
