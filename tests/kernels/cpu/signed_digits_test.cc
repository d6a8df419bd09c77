#include "kernels/cpu/signed_digits.h"

#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

// The sum of the digits with their weights, in Fr, from the top down.
Fr Recompose(const SignedDigits& digits, const U256& scalar) {
  Fr out;
  for (uint32_t w = digits.windows(); w-- > 0;) {
    for (uint32_t i = 0; i < digits.window_bits(); ++i) out = out.Double();
    const int32_t digit = digits.Digit(scalar, w);
    const Fr size = Fr::FromUint64(static_cast<uint64_t>(std::abs(digit)));
    out += digit < 0 ? -size : size;
  }
  return out;
}

// Every window of `window_bits` holds 2^(window_bits - 1), or that less `less`: the digits where the carry
// turns.
U256 AllWindowsHalf(uint32_t window_bits, uint32_t scalar_bits, uint64_t less) {
  U256 out;
  for (uint32_t bit = 0; bit + window_bits <= scalar_bits - 1; bit += window_bits) {
    const uint64_t value = (uint64_t{1} << (window_bits - 1)) - less;
    for (uint32_t i = 0; i < window_bits; ++i) {
      if ((value >> i & 1) != 0) out.limb[(bit + i) / 64] |= uint64_t{1} << ((bit + i) % 64);
    }
  }
  return out;
}

TEST(SignedDigitsTest, DigitsAddUpToTheScalarAndStayInRangeForEveryWindowSize) {
  Random random(12);
  for (uint32_t window_bits = 2; window_bits <= 22; ++window_bits) {
    const SignedDigits digits(window_bits, 254);
    std::vector<U256> scalars = EdgeIntegers<FrParams>();
    for (int i = 0; i < 20; ++i) scalars.push_back(RandomBelow<FrParams>(random));
    for (const uint64_t less : {0u, 1u}) scalars.push_back(AllWindowsHalf(window_bits, 254, less));
    for (const U256& scalar : scalars) {
      ASSERT_EQ(Recompose(digits, scalar), Fr::FromPlain(scalar)) << window_bits;
      for (uint32_t w = 0; w < digits.windows(); ++w) {
        ASSERT_LE(std::abs(digits.Digit(scalar, w)), static_cast<int32_t>(digits.digit_max()));
      }
    }
  }
}

TEST(SignedDigitsTest, ShortScalarsNeedFewWindows) {
  for (uint32_t scalar_bits = 1; scalar_bits <= 64; ++scalar_bits) {
    for (uint32_t window_bits = 2; window_bits <= 22; ++window_bits) {
      const SignedDigits digits(window_bits, scalar_bits);
      EXPECT_LE(digits.windows(), scalar_bits / window_bits + 1);
      const uint64_t largest = ~uint64_t{0} >> (64 - scalar_bits);
      for (const uint64_t scalar : {uint64_t{0}, uint64_t{1}, largest / 2, largest / 3 * 2, largest}) {
        ASSERT_EQ(Recompose(digits, {{scalar, 0, 0, 0}}), Fr::FromUint64(scalar));
      }
    }
  }
}

TEST(SignedDigitsTest, DigitsFarAboveTheTopBitAreZero) {
  Random random(13);
  for (uint32_t window_bits = 2; window_bits <= 22; ++window_bits) {
    const SignedDigits digits(window_bits, 254);
    for (uint32_t bits = 1; bits < 250; bits += 7) {
      U256 all_ones;  // the largest scalar of that length
      Sub(PowerOfTwo(bits), U256{{1, 0, 0, 0}}, all_ones);
      for (uint32_t w = 0; w < digits.windows(); ++w) {
        if (w * window_bits > BitLength(all_ones) + 1) {
          ASSERT_EQ(digits.Digit(all_ones, w), 0);
        }
      }
    }
  }
}

TEST(BitLengthTest, CountsBitsWithoutLeadingZeros) {
  EXPECT_EQ(BitLength({}), 0u);
  for (uint32_t k = 0; k < 256; ++k) EXPECT_EQ(BitLength(PowerOfTwo(k)), k + 1);
  EXPECT_EQ(BitLength(Fr::kModulus), 254u);
}

}  // namespace
}  // namespace proofmill::kernels
