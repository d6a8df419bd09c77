#include "kernels/cpu/msm.h"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/signed_digits.h"
#include "kernels/field/arithmetic.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/msm.h"

namespace proofmill::kernels {
namespace {

struct ScalarPattern {
  std::string name;
  std::function<U256(size_t i, size_t n, Random& random)> scalar;
};

U256 Small(uint64_t x) { return U256{{x, 0, 0, 0}}; }
U256 RMinusOne() {
  U256 out;
  Sub(Fr::kModulus, Small(1), out);
  return out;
}
// Every whole window of `c` bits below bit 253 holds `digit`.
U256 EveryDigit(uint32_t c, uint64_t digit) {
  U256 out;
  for (uint32_t bit = 0; bit + c <= 253; bit += c) {
    for (uint32_t i = 0; i < c; ++i) {
      if ((digit >> i & 1) != 0) out.limb[(bit + i) / 64] |= uint64_t{1} << ((bit + i) % 64);
    }
  }
  return out;
}

// The witness-like and the extreme ones.
std::vector<ScalarPattern> ScalarPatterns() {
  const auto constant = [](const U256& x) { return [x](size_t, size_t, Random&) { return x; }; };
  return {
      {"uniform", [](size_t, size_t, Random& random) { return RandomBelow<FrParams>(random); }},
      {"zeros", constant({})},
      {"ones", constant(Small(1))},
      {"all r-1", constant(RMinusOne())},
      {"all 2^253", constant(PowerOfTwo(253))},
      {"one value", constant(HexToU256("123456789abcdef00000000000000000ffffffffffffffff"))},
      {"one-hot", [](size_t i, size_t n, Random&) { return i == n / 2 ? RMinusOne() : U256{}; }},
      {"mostly bits",
       [](size_t i, size_t, Random& random) {
         return i % 16 == 7 ? RandomBelow<FrParams>(random) : Small(random() % 2);
       }},
      {"all lengths",
       [](size_t i, size_t, Random&) {
         U256 out;
         Sub(PowerOfTwo(static_cast<uint32_t>(i * 8 % 254)), Small(1), out);
         return out;
       }},
  };
}

template <typename F>
class MsmTest : public testing::Test {
 protected:
  using Point = Affine<F>;
  ~MsmTest() override { SetArithmetic(SupportedArithmetics().back()); }

  // Compares the sum with `expected` on every arithmetic that this CPU has.
  static void Check(const std::vector<Point>& bases, const std::vector<U256>& scalars, uint32_t window_bits,
                    const Xyzz<F>& expected, const std::string& what) {
    for (const Arithmetic arithmetic : SupportedArithmetics()) {
      SetArithmetic(arithmetic);
      ASSERT_EQ(Msm<F>(bases.data(), scalars.data(), nullptr, scalars.size(), {.window_bits = window_bits}),
                expected)
          << what << ", " << scalars.size() << " terms, " << window_bits << " bits a window, "
          << ArithmeticName(arithmetic);
    }
  }

  std::vector<U256> Scalars(const ScalarPattern& pattern, size_t n) {
    std::vector<U256> out;
    for (size_t i = 0; i < n; ++i) out.push_back(pattern.scalar(i, n, random_));
    return out;
  }

  // base(i) for i < n: consecutive multiples of the generator, so that sums of a few coincide as well.
  static std::vector<Point> ConsecutiveMultiples(size_t n) {
    std::vector<Xyzz<F>> sums;
    Xyzz<F> p = Xyzz<F>::FromAffine(Generator<F>::kValue);
    for (size_t i = 0; i < n; ++i) {
      sums.push_back(p);
      p += Generator<F>::kValue;
    }
    std::vector<Point> out(n);
    BatchToAffine(sums.data(), out.data(), n);
    return out;
  }

  // Named sets of n bases.
  static std::vector<std::pair<std::string, std::vector<Point>>> BaseSets(size_t n) {
    const std::vector<Point> distinct = ConsecutiveMultiples(n);
    std::vector<Point> equal(n, Multiple<F>(3)), opposite(n, Multiple<F>(3)), some_infinite = distinct;
    for (size_t i = 0; i < n; i += 2) opposite[i] = -opposite[i];
    for (size_t i = 0; i < n; i += 3) some_infinite[i] = Point::Infinity();
    return {{"distinct", distinct},
            {"equal", equal},
            {"opposite", opposite},
            {"some infinite", some_infinite},
            {"all infinite", std::vector<Point>(n, Point::Infinity())}};
  }

  // (The sum of scalar * k) * generator for the bases k * generator, k = 1, 2, ...
  static Xyzz<F> SumOfConsecutive(const std::vector<U256>& scalars) {
    Fr sum;
    for (size_t i = 0; i < scalars.size(); ++i) sum += Fr::FromPlain(scalars[i]) * Fr::FromUint64(i + 1);
    return ScalarMulVartime(Xyzz<F>::FromAffine(Generator<F>::kValue), sum.ToPlain());
  }

  Random random_{15};
};
using Coordinates = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(MsmTest, Coordinates);

TYPED_TEST(MsmTest, IsTheOraclesSumForEveryPatternOfScalarsAndBases) {
  for (const size_t n : {0u, 1u, 2u, 31u, 32u, 33u}) {
    for (const auto& [bases_name, bases] : this->BaseSets(n)) {
      for (const ScalarPattern& pattern : ScalarPatterns()) {
        const std::vector<U256> scalars = this->Scalars(pattern, n);
        const auto expected = oracle::Msm(bases.data(), scalars.data(), nullptr, n);
        for (const uint32_t window_bits : {0u, 2u, 5u}) {
          this->Check(bases, scalars, window_bits, expected,
                      "scalars: " + pattern.name + ", bases: " + bases_name);
        }
      }
    }
  }
}

TYPED_TEST(MsmTest, DigitsAtTheTurnOfTheCarryAreExactForEveryWindowSize) {
  const auto bases = this->ConsecutiveMultiples(4);
  for (uint32_t c = 2; c <= 16; ++c) {
    const uint64_t half = uint64_t{1} << (c - 1);
    const std::vector<U256> scalars = {EveryDigit(c, half), EveryDigit(c, half - 1),
                                       EveryDigit(c, 2 * half - 1), RMinusOne()};

    this->Check(bases, scalars, c, oracle::Msm(bases.data(), scalars.data(), nullptr, 4),
                "digits at the turn");
  }
}

TYPED_TEST(MsmTest, AnIndexPicksTheScalarOfEachBase) {
  const size_t n = 100;
  const auto bases = this->ConsecutiveMultiples(n);
  std::vector<U256> scalars(40);
  for (U256& scalar : scalars) scalar = RandomBelow<FrParams>(this->random_);
  std::vector<uint32_t> index;
  for (size_t i = 0; i < n; ++i) index.push_back(static_cast<uint32_t>(this->random_() % scalars.size()));

  EXPECT_EQ(Msm<TypeParam>(bases.data(), scalars.data(), index.data(), n),
            oracle::Msm(bases.data(), scalars.data(), index.data(), n));
}

// Only where the audit needs them: over Fq2.
TEST(MsmWindowSumsTest, AreTheSumsOfTheSignedDigitsOfEachWindow) {
  constexpr size_t kTerms = 40;
  Random random(16);
  std::vector<Affine<Fq2>> bases;
  for (size_t i = 0; i < kTerms; ++i) {
    bases.push_back(i % 9 == 4 ? Affine<Fq2>::Infinity() : Multiple<Fq2>(i + 1));
  }
  for (const auto& [window_bits, scalar_bits] : {std::pair{13u, 77u}, {7u, 83u}, {5u, 89u}, {4u, 95u}}) {
    const SignedDigits digits(window_bits, scalar_bits);
    std::vector<U256> scalars(kTerms);  // the last one stays zero
    for (size_t i = 0; i + 1 < kTerms; ++i) {
      scalars[i] = U256{{random(), random() & ((uint64_t{1} << (scalar_bits - 64)) - 1), 0, 0}};
    }

    const auto sums = MsmWindowSums(bases.data(), scalars.data(), kTerms, window_bits, scalar_bits);

    ASSERT_EQ(sums.size(), digits.windows());
    for (uint32_t w = 0; w < digits.windows(); ++w) {
      Xyzz<Fq2> expected = Xyzz<Fq2>::Infinity();
      for (size_t i = 0; i < kTerms; ++i) {
        const int32_t digit = digits.Digit(scalars[i], w);
        const Affine<Fq2> base = digit < 0 ? -bases[i] : bases[i];
        for (int32_t k = 0; k < std::abs(digit); ++k) expected += base;
      }
      EXPECT_EQ(sums[w], expected) << "window " << w << " of " << window_bits << " bits";
    }
  }
}

// More threads than work, fewer, and odd numbers: slices and parts of windows fall differently each time.
TYPED_TEST(MsmTest, AnyNumberOfThreadsGivesTheSame) {
  const size_t n = 600;
  const auto bases = this->ConsecutiveMultiples(n);
  for (const ScalarPattern& pattern : ScalarPatterns()) {
    const std::vector<U256> scalars = this->Scalars(pattern, n);
    const auto expected = this->SumOfConsecutive(scalars);
    for (size_t threads = 1; threads <= 17; threads += pattern.name == "uniform" ? 1 : 4) {
      ThreadArena arena(threads);
      Xyzz<TypeParam> sum;

      arena.Execute([&] { sum = Msm<TypeParam>(bases.data(), scalars.data(), nullptr, n); });

      ASSERT_EQ(sum, expected) << pattern.name << ", " << threads << " threads";
    }
  }
}

TYPED_TEST(MsmTest, MoreThreadsThanTermsGiveTheSame) {
  ThreadArena arena(17);
  for (size_t n = 1; n <= 17; ++n) {
    const auto bases = this->ConsecutiveMultiples(n);
    for (const ScalarPattern& pattern : ScalarPatterns()) {
      const std::vector<U256> scalars = this->Scalars(pattern, n);
      Xyzz<TypeParam> sum;

      arena.Execute([&] { sum = Msm<TypeParam>(bases.data(), scalars.data(), nullptr, n); });

      ASSERT_EQ(sum, this->SumOfConsecutive(scalars)) << pattern.name << ", " << n << " terms";
    }
  }
}

// Many slices, so that large buckets cross their borders.
TYPED_TEST(MsmTest, LargeSumsOfEveryPatternAreExact) {
  const size_t n = 6000;
  const auto bases = this->ConsecutiveMultiples(n);
  for (const ScalarPattern& pattern : ScalarPatterns()) {
    const std::vector<U256> scalars = this->Scalars(pattern, n);
    ThreadArena arena(2);
    arena.Execute([&] { this->Check(bases, scalars, 0, this->SumOfConsecutive(scalars), pattern.name); });
  }
}

TYPED_TEST(MsmTest, WideWindowsAreSplitIntoPartsAndAddUp) {
  const size_t n = 50;
  const auto bases = this->ConsecutiveMultiples(n);
  const std::vector<U256> scalars = this->Scalars(ScalarPatterns()[0], n);
  ThreadArena arena(4);

  arena.Execute([&] { this->Check(bases, scalars, 13, this->SumOfConsecutive(scalars), "uniform"); });
}

}  // namespace
}  // namespace proofmill::kernels
