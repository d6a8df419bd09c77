#include "engine/groth16/point_check.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::G1Affine;
using kernels::G2Affine;
using kernels::kG1Generator;
using kernels::kG2Generator;
using kernels::U256;

Fq PlusModulus(const Fq& x) {
  U256 sum;
  kernels::Add(x.montgomery(), Fq::kModulus, sum);
  return Fq::FromMontgomery(sum);
}

TEST(PointCheckTest, PointsOfTheCurveAndInfinityAreFine) {
  EXPECT_FALSE(PointFault(kG1Generator, InfinityRule::kRefused).has_value());
  EXPECT_FALSE(PointFault(kG2Generator, InfinityRule::kRefused).has_value());
  EXPECT_FALSE(PointFault(G1Affine::Infinity(), InfinityRule::kAllowed).has_value());
  EXPECT_FALSE(PointFault(G2Affine::Infinity(), InfinityRule::kAllowed).has_value());
}

TEST(PointCheckTest, EachFaultIsNamed) {
  const G1Affine off{kG1Generator.x, kG1Generator.y + Fq::One()};
  const G2Affine off2{kG2Generator.x, kG2Generator.y + Fq2::One()};
  for (const G1Affine& p : {G1Affine{PlusModulus(kG1Generator.x), kG1Generator.y},
                            G1Affine{kG1Generator.x, PlusModulus(kG1Generator.y)},
                            G1Affine{PlusModulus(Fq::Zero()), Fq::Zero()}}) {
    EXPECT_EQ(PointFault(p, InfinityRule::kAllowed), "a coordinate of q or more");
  }
  G2Affine large2 = kG2Generator;
  large2.y.c1 = PlusModulus(large2.y.c1);
  EXPECT_EQ(PointFault(large2, InfinityRule::kAllowed), "a coordinate of q or more");
  EXPECT_EQ(PointFault(off, InfinityRule::kAllowed), "a point that is not on the curve");
  EXPECT_EQ(PointFault(off2, InfinityRule::kAllowed), "a point that is not on the curve");
  EXPECT_EQ(PointFault(G1Affine::Infinity(), InfinityRule::kRefused), "infinity");
}

TEST(PointCheckTest, TheLowestFaultyPointIsFoundWhateverTheNumberOfThreads) {
  std::vector<G1Affine> points(5000, kG1Generator);
  const G1Affine off{kG1Generator.x, Fq::One()};
  for (size_t place : {4999u, 4096u, 3000u, 1024u, 1023u, 1u, 0u}) {  // each lower than the one before
    points[place] = off;
    for (size_t threads = 1; threads <= 4; ++threads) {
      kernels::ThreadArena arena(threads);
      std::optional<size_t> found;
      arena.Execute([&] { found = FirstFaultyPoint(points.data(), points.size(), InfinityRule::kAllowed); });
      EXPECT_EQ(found, place);
    }
  }
}

TEST(PointCheckTest, NoPointsHaveNoFault) {
  EXPECT_FALSE(FirstFaultyPoint<Fq>(nullptr, 0, InfinityRule::kRefused).has_value());
}

TEST(PointCheckTest, TheTextOfAPointIsItsPlainFirstCoordinate) {
  EXPECT_EQ(PointText(kG1Generator),
            "x = 0x0000000000000000000000000000000000000000000000000000000000000001");
  EXPECT_THAT(PointText(kG2Generator), testing::EndsWith(" u"));
}

}  // namespace
}  // namespace proofmill::engine
