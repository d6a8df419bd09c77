#include "kernels/field/limbs.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

constexpr U256 kAllOnes{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};

TEST(LimbsTest, ACarryRunsThroughAllLimbsAndOut) {
  U256 sum;

  EXPECT_EQ(Add(kAllOnes, {{1, 0, 0, 0}}, sum), 1u);
  EXPECT_TRUE(sum.IsZero());
  EXPECT_EQ(Add({{~uint64_t{0}, 0, 0, 0}}, {{1, 0, 0, 0}}, sum), 0u);
  EXPECT_EQ(sum, (U256{{0, 1, 0, 0}}));
}

TEST(LimbsTest, ABorrowRunsThroughAllLimbsAndOut) {
  U256 difference;

  EXPECT_EQ(Sub({}, {{1, 0, 0, 0}}, difference), 1u);
  EXPECT_EQ(difference, kAllOnes);
  EXPECT_EQ(Sub({{0, 0, 1, 0}}, {{1, 0, 0, 0}}, difference), 0u);
  EXPECT_EQ(difference, (U256{{~uint64_t{0}, ~uint64_t{0}, 0, 0}}));
}

TEST(LimbsTest, LessComparesFromTheTopLimbDown) {
  EXPECT_TRUE(Less({{9, 0, 0, 1}}, {{0, 0, 0, 2}}));
  EXPECT_FALSE(Less({{0, 0, 0, 2}}, {{9, 0, 0, 1}}));
  EXPECT_FALSE(Less(kAllOnes, kAllOnes));
  EXPECT_TRUE(Less({}, {{1, 0, 0, 0}}));
}

TEST(LimbsTest, BytesGoBothWaysInBothOrders) {
  uint8_t little[32], big[32];
  for (uint8_t i = 0; i < 32; ++i) {
    little[i] = static_cast<uint8_t>(i + 1);
    big[31 - i] = static_cast<uint8_t>(i + 1);
  }
  const U256 value{{0x0807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131211, 0x201f1e1d1c1b1a19}};

  EXPECT_EQ(U256FromLittleEndian(little), value);
  EXPECT_EQ(U256FromBigEndian(big), value);
  uint8_t out[32];
  U256ToLittleEndian(value, out);
  EXPECT_TRUE(std::equal(out, out + 32, little));
  U256ToBigEndian(value, out);
  EXPECT_TRUE(std::equal(out, out + 32, big));
}

TEST(LimbsTest, BitReadsAcrossLimbs) {
  for (const uint32_t k : {0u, 1u, 63u, 64u, 127u, 128u, 191u, 192u, 255u}) {
    const U256 x = PowerOfTwo(k);
    for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(x.Bit(i), i == k ? 1u : 0u);
  }
}

}  // namespace
}  // namespace proofmill::kernels
