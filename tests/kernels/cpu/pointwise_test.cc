#include "kernels/cpu/pointwise.h"

#include <cstddef>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/arithmetic.h"
#include "tests/kernels/arithmetic_scope.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

// n elements: all pairs of edge values meet at equal places of two vectors of different `shift`.
std::vector<Fr> Values(size_t n, size_t shift) {
  std::vector<Fr> all = Elements<Fr>::Edge();
  Random random(5);
  while (all.size() < 61) all.push_back(Elements<Fr>::Uniform(random));
  std::vector<Fr> out;
  for (size_t i = 0; i < n; ++i) out.push_back(all[(i + i / all.size() * shift) % all.size()]);
  return out;
}

class PointwiseTest : public testing::TestWithParam<Arithmetic> {
 protected:
  const ArithmeticScope scope_{GetParam()};
};

TEST_P(PointwiseTest, MulIsTheProductOfEachPair) {
  for (const size_t n : {0u, 1u, 7u, 8u, 9u, 4095u, 4096u + 11u, 10000u}) {
    const std::vector<Fr> a = Values(n, 0), b = Values(n, 1);
    std::vector<Fr> out(n);

    PointwiseMul(a.data(), b.data(), out.data(), n);

    for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], a[i] * b[i]) << i << " of " << n;
  }
}

TEST_P(PointwiseTest, MulSubToPlainLeavesTheIntegersOfTheQuotientStep) {
  for (const size_t n : {1u, 8u, 13u, 4096u + 11u, 10000u}) {
    const std::vector<Fr> a = Values(n, 0), b = Values(n, 1), c = Values(n, 3);
    std::vector<Fr> out(n);

    PointwiseMulSubToPlain(a.data(), b.data(), c.data(), out.data(), n);

    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(out[i].montgomery(), (a[i] * b[i] - c[i]).ToPlain()) << i << " of " << n;
    }
  }
}

TEST_P(PointwiseTest, TheResultMayTakeThePlaceOfAnOperand) {
  constexpr size_t kN = 777;
  const std::vector<Fr> a = Values(kN, 0), b = Values(kN, 1);
  std::vector<Fr> expected(kN);
  PointwiseMul(a.data(), b.data(), expected.data(), kN);

  std::vector<Fr> over_a = a, over_b = b;
  PointwiseMul(over_a.data(), b.data(), over_a.data(), kN);
  PointwiseMul(a.data(), over_b.data(), over_b.data(), kN);

  EXPECT_EQ(over_a, expected);
  EXPECT_EQ(over_b, expected);
}

INSTANTIATE_TEST_SUITE_P(EveryArithmetic, PointwiseTest, testing::ValuesIn(SupportedArithmetics()),
                         [](const auto& test) { return std::string(ArithmeticName(test.param)); });

}  // namespace
}  // namespace proofmill::kernels
