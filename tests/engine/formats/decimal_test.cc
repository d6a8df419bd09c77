#include "engine/formats/decimal.h"

#include <string>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

constexpr U256 kMax{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};
constexpr const char* kMaxDecimal =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";

struct Known {
  U256 value;
  const char* text;
};
// Computed with Python integers.
const Known kKnown[] = {
    {{{0, 0, 0, 0}}, "0"},
    {{{1, 0, 0, 0}}, "1"},
    {{{9'999'999'999'999'999'999u, 0, 0, 0}}, "9999999999999999999"},
    {{{10'000'000'000'000'000'000u, 0, 0, 0}}, "10000000000000000000"},
    {{{10'000'000'000'000'000'001u, 0, 0, 0}}, "10000000000000000001"},
    {{{~uint64_t{0}, 0, 0, 0}}, "18446744073709551615"},
    {{{0, 1, 0, 0}}, "18446744073709551616"},
    {{{0, 0, 0, 1}}, "6277101735386680763835789423207666416102355444464034512896"},
    {kernels::Fr::kModulus, "21888242871839275222246405745257275088548364400416034343698204186575808495617"},
    {kernels::Fq::kModulus, "21888242871839275222246405745257275088696311157297823662689037894645226208583"},
    {kMax, kMaxDecimal},
};

TEST(DecimalTest, KnownNumbersAreReadAndWritten) {
  for (const Known& known : kKnown) {
    SCOPED_TRACE(known.text);
    const auto parsed = ParseDecimal(known.text);
    ASSERT_OK(parsed);
    EXPECT_TRUE(*parsed == known.value);
    EXPECT_EQ(ToDecimal(known.value), known.text);
  }
}

TEST(DecimalTest, EveryPowerOfTwoAndItsNeighboursSurviveTheWayThereAndBack) {
  for (size_t bit = 0; bit < 256; ++bit) {
    U256 value;
    value.limb[bit / 64] = uint64_t{1} << (bit % 64);
    U256 below;
    kernels::Sub(value, U256{{1, 0, 0, 0}}, below);
    for (const U256& x : {value, below}) {
      const auto parsed = ParseDecimal(ToDecimal(x));
      ASSERT_OK(parsed);
      EXPECT_TRUE(*parsed == x) << bit;
    }
  }
}

TEST(DecimalTest, OtherSpellingsOfANumberAreRefused) {
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "-0", "00", "01", "0x1", "1.0", "1e3", "1_000",
                           "1,000", "\t1", "1\n", "a", "0b1"}) {
    SCOPED_TRACE(text);
    ExpectError(ParseDecimal(text), absl::StatusCode::kInvalidArgument, "expected a decimal number, got");
  }
  ExpectError(ParseDecimal(std::string("1\0", 2)), absl::StatusCode::kInvalidArgument, "other characters");
}

TEST(DecimalTest, NumbersOf256BitsAndMoreAreRefused) {
  const char* const two_to_256 =
      "115792089237316195423570985008687907853269984665640564039457584007913129639936";
  ExpectError(ParseDecimal(two_to_256), absl::StatusCode::kInvalidArgument, "below 2^256");
  ExpectError(ParseDecimal(std::string(78, '9')), absl::StatusCode::kInvalidArgument, "below 2^256");
  ExpectError(ParseDecimal(std::string(79, '1')), absl::StatusCode::kInvalidArgument, "one of 79 digits");
  ExpectError(ParseDecimal(std::string(1'000'000, '1')), absl::StatusCode::kInvalidArgument,
              "one of 1000000 digits");
}

TEST(DecimalTest, TheBoundIsExclusive) {
  const U256 r = kernels::Fr::kModulus;
  EXPECT_OK(
      ParseDecimalBelow("21888242871839275222246405745257275088548364400416034343698204186575808495616", r));
  ExpectError(
      ParseDecimalBelow("21888242871839275222246405745257275088548364400416034343698204186575808495617", r),
      absl::StatusCode::kInvalidArgument,
      "below 21888242871839275222246405745257275088548364400416034343698204186575808495617");
  ExpectError(ParseDecimalBelow(kMaxDecimal, r), absl::StatusCode::kInvalidArgument, "got one that is not");
  ExpectError(ParseDecimalBelow("x", r), absl::StatusCode::kInvalidArgument, "other characters");
}

}  // namespace
}  // namespace proofmill::engine
