#include "kernels/cpu/ntt.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/arithmetic.h"
#include "tests/kernels/arithmetic_scope.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/dft.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kNaiveLog2Max = 12;  // the oracle takes n^2 products
constexpr uint32_t kLog2Max = 15;       // three blocks of different kinds: shared columns, tasks, leaves

std::vector<Fr> RandomVector(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<Fr> out;
  for (size_t i = 0; i < n; ++i) out.push_back(Elements<Fr>::Uniform(random));
  return out;
}

size_t ReverseBits(size_t i, uint32_t bits) {
  size_t out = 0;
  for (uint32_t k = 0; k < bits; ++k) out = out << 1 | (i >> k & 1);
  return out;
}

std::vector<Fr> BitReversed(const std::vector<Fr>& v, uint32_t log2_n) {
  std::vector<Fr> out(v.size());
  for (size_t i = 0; i < v.size(); ++i) out[ReverseBits(i, log2_n)] = v[i];
  return out;
}

// Every size under every arithmetic that this CPU has.
class NttTest : public testing::TestWithParam<std::tuple<Arithmetic, uint32_t>> {
 protected:
  uint32_t log2_n() const { return std::get<1>(GetParam()); }
  size_t n() const { return size_t{1} << log2_n(); }

  const ArithmeticScope scope_{std::get<0>(GetParam())};
  const NttDomain domain_{log2_n()};
  const std::vector<Fr> coefficients_ = RandomVector(n(), log2_n());
};

std::string ArithmeticAndSize(const testing::TestParamInfo<NttTest::ParamType>& info) {
  return std::string(ArithmeticName(std::get<0>(info.param))) + "_log2_" +
         std::to_string(std::get<1>(info.param));
}

class NaiveNttTest : public NttTest {};

TEST_P(NaiveNttTest, ForwardEvaluatesAtThePowersOfTheRoot) {
  std::vector<Fr> values = coefficients_;

  domain_.Forward(values.data());

  EXPECT_EQ(values, oracle::EvaluateOnCoset(coefficients_, FrRootOfUnity(log2_n()), Fr::One()));
}

TEST_P(NttTest, ForwardAgreesWithHornerAtSomePoints) {
  std::vector<Fr> values = coefficients_;

  domain_.Forward(values.data());

  for (const size_t i : {size_t{0}, n() / 2, n() - 1, n() / 3}) {
    const Fr point = FrRootOfUnity(log2_n()).PowVartime({{i, 0, 0, 0}});
    EXPECT_EQ(values[i], oracle::Evaluate(coefficients_, point)) << "at power " << i;
  }
}

TEST_P(NttTest, InverseUndoesForward) {
  std::vector<Fr> values = coefficients_;
  domain_.Forward(values.data());

  domain_.Inverse(values.data());

  EXPECT_EQ(values, coefficients_);
}

TEST_P(NttTest, InverseToBitReversedGivesCoefficientsTimesNInReversedPlaces) {
  std::vector<Fr> values = coefficients_;
  domain_.Forward(values.data());

  domain_.InverseToBitReversed(values.data());

  std::vector<Fr> expected = BitReversed(coefficients_, log2_n());
  for (Fr& x : expected) x *= Fr::FromUint64(n());
  EXPECT_EQ(values, expected);
}

TEST_P(NttTest, ForwardFromBitReversedIsForwardOfTheReordered) {
  std::vector<Fr> values = BitReversed(coefficients_, log2_n());
  std::vector<Fr> expected = coefficients_;

  domain_.ForwardFromBitReversed(values.data());
  domain_.Forward(expected.data());

  EXPECT_EQ(values, expected);
}

TEST_P(NttTest, ScalingMultipliesCoefficientIByTheShiftToTheIOverN) {
  std::vector<Fr> values = BitReversed(coefficients_, log2_n());

  domain_.ScaleToCosetFromBitReversed(values.data());

  const Fr shift = FrRootOfUnity(log2_n() + 1);
  Fr factor = Fr::FromUint64(n()).Inverse();
  for (size_t i = 0; i < n(); ++i, factor *= shift) {
    ASSERT_EQ(values[ReverseBits(i, log2_n())], coefficients_[i] * factor) << "coefficient " << i;
  }
}

// The identity that the H polynomial rests on: values on the domain become values on the odd 2n-th roots.
TEST_P(NttTest, TheThreeStepsMoveValuesToTheOddRootsOfTheDoubledDomain) {
  std::vector<Fr> values = coefficients_;
  domain_.Forward(values.data());
  std::vector<Fr> doubled = coefficients_;
  doubled.resize(2 * n());
  NttDomain(log2_n() + 1).Forward(doubled.data());

  domain_.InverseToBitReversed(values.data());
  domain_.ScaleToCosetFromBitReversed(values.data());
  domain_.ForwardFromBitReversed(values.data());

  for (size_t i = 0; i < n(); ++i) ASSERT_EQ(values[i], doubled[2 * i + 1]) << "place " << i;
}

TEST_P(NttTest, ValuesToCosetIsTheThreeStepsInOne) {
  std::vector<Fr> values = coefficients_;
  std::vector<Fr> expected = coefficients_;

  domain_.ValuesToCoset(values.data());

  domain_.InverseToBitReversed(expected.data());
  domain_.ScaleToCosetFromBitReversed(expected.data());
  domain_.ForwardFromBitReversed(expected.data());
  EXPECT_EQ(values, expected);
}

// Sums that take every carry and every lazy number to its bound.
TEST_P(NaiveNttTest, VectorsOfOneEdgeValueComeBack) {
  for (const Fr& edge : Elements<Fr>::Edge()) {
    const std::vector<Fr> constant(n(), edge);
    std::vector<Fr> values = constant;

    domain_.Forward(values.data());
    EXPECT_EQ(values[0], edge * Fr::FromUint64(n()));
    EXPECT_EQ(values[n() - 1], n() == 1 ? edge : Fr::Zero());
    domain_.Inverse(values.data());

    ASSERT_EQ(values, constant);
  }
}

TEST_P(NttTest, AnyNumberOfThreadsGivesTheSame) {
  std::vector<Fr> expected = coefficients_;
  domain_.InverseToBitReversed(expected.data());
  domain_.ScaleToCosetFromBitReversed(expected.data());
  domain_.ForwardFromBitReversed(expected.data());
  for (const size_t threads : {1u, 3u, 17u}) {
    ThreadArena arena(threads);
    std::vector<Fr> values = coefficients_;

    arena.Execute([&] {
      const NttDomain domain(log2_n());
      domain.InverseToBitReversed(values.data());
      domain.ScaleToCosetFromBitReversed(values.data());
      domain.ForwardFromBitReversed(values.data());
    });
    std::vector<Fr> in_one = coefficients_;
    arena.Execute([&] { domain_.ValuesToCoset(in_one.data()); });

    EXPECT_EQ(values, expected) << threads << " threads";
    EXPECT_EQ(in_one, expected) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(SmallSizes, NaiveNttTest,
                         testing::Combine(testing::ValuesIn(SupportedArithmetics()),
                                          testing::Range(uint32_t{0}, kNaiveLog2Max + 1)),
                         ArithmeticAndSize);
INSTANTIATE_TEST_SUITE_P(AllSizes, NttTest,
                         testing::Combine(testing::ValuesIn(SupportedArithmetics()),
                                          testing::Range(uint32_t{0}, kLog2Max + 1)),
                         ArithmeticAndSize);

TEST(NttDomainTest, TellsItsSize) {
  EXPECT_EQ(NttDomain(0).size(), 1u);
  EXPECT_EQ(NttDomain(5).size(), 32u);
  EXPECT_EQ(NttDomain(5).log2_size(), 5u);
}

TEST(CosetShiftTest, IsTheNextRootOfUnityOrTwentyFiveWhereThereIsNone) {
  EXPECT_EQ(CosetShift(0), -Fr::One());
  EXPECT_EQ(CosetShift(27), FrRootOfUnity(28));
  EXPECT_EQ(CosetShift(28), Fr::FromUint64(25));
  // 25 moves off the domain of 2^28 points, so that the coset is another one.
  EXPECT_NE(Fr::FromUint64(25).PowVartime({{uint64_t{1} << 28, 0, 0, 0}}), Fr::One());
}

TEST(NttDomainTest, ConstantsAndLinearPolynomialsHaveTheValuesOneExpects) {
  const NttDomain domain(6);
  std::vector<Fr> constant(64), linear(64);
  constant[0] = Fr::FromUint64(9);
  linear[1] = Fr::One();

  domain.Forward(constant.data());
  domain.Forward(linear.data());

  Fr power = Fr::One();
  for (size_t i = 0; i < 64; ++i, power *= FrRootOfUnity(6)) {
    EXPECT_EQ(constant[i], Fr::FromUint64(9));
    EXPECT_EQ(linear[i], power);
  }
}

}  // namespace
}  // namespace proofmill::kernels
