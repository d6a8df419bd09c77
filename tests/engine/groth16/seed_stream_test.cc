#include "engine/groth16/seed_stream.h"

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

// Computed with Python's hashlib from the formula in the header.
TEST(SeedStreamTest, ElementsAreThoseOfTheFormula) {
  EXPECT_EQ(
      SeedStream("test", 0).Element(0).ToPlain(),
      (U256{{0x4a5b9dc8714059cdull, 0x534dba317c0eadcbull, 0x99d6fe7219a808d6ull, 0x077f83f97d89a49cull}}));
  EXPECT_EQ(
      SeedStream("test", 1).Element(2).ToPlain(),
      (U256{{0xddd663643100543bull, 0xbe7cc1660f9e134bull, 0x2729831d0396acc3ull, 0x144e340684ee6c7dull}}));
  EXPECT_EQ(
      SeedStream("setup trapdoor", ~uint64_t{0}).Element(5).ToPlain(),
      (U256{{0xd994fcaa9dbfa31full, 0xa0a1ba96a0d264ceull, 0xde0a5579b9dbbc4cull, 0x1c55078ae807e432ull}}));
}

TEST(SeedStreamTest, DomainsSeedsAndIndicesGiveOtherElements) {
  const Fr x = SeedStream("a", 1).Element(1);
  EXPECT_NE(x, SeedStream("b", 1).Element(1));
  EXPECT_NE(x, SeedStream("a", 2).Element(1));
  EXPECT_NE(x, SeedStream("a", 1).Element(2));
  EXPECT_EQ(x, SeedStream("a", 1).Element(1));
}

// The first outputs of SplitMix64 seeded with 0 and 1.
TEST(SeedStreamTest, Mix64IsSplitMix64) {
  EXPECT_EQ(Mix64(0), 0xe220a8397b1dcdafull);
  EXPECT_EQ(Mix64(1), 0x910a2dec89025cc1ull);
}

}  // namespace
}  // namespace proofmill::engine
