#include "kernels/cpu/batch_add.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/arithmetic.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/affine_curve.h"

namespace proofmill::kernels {
namespace {

// Runs every test on each arithmetic that this CPU has.
template <typename F>
class BatchAddTest : public testing::Test {
 protected:
  ~BatchAddTest() override { SetArithmetic(SupportedArithmetics().back()); }

  // Adds the pairs on every arithmetic and compares with the oracle.
  static void Check(const std::vector<Affine<F>>& before, const std::vector<PointPair>& pairs) {
    for (const Arithmetic arithmetic : SupportedArithmetics()) {
      SetArithmetic(arithmetic);
      std::vector<Affine<F>> points = before;
      PairAdder<F>(pairs.size()).Add(points.data(), pairs.data(), pairs.size());

      std::vector<Affine<F>> expected = before;
      for (const PointPair& pair : pairs) {
        expected[pair.target] = oracle::AddPoints(before[pair.target], before[pair.other]);
      }
      for (size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(points[i], expected[i])
            << "point " << i << " of " << pairs.size() << " pairs, " << ArithmeticName(arithmetic);
      }
    }
  }
};
using Coordinates = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(BatchAddTest, Coordinates);

TYPED_TEST(BatchAddTest, AddsEveryPairIncludingEqualOppositeAndInfiniteOnes) {
  using Point = Affine<TypeParam>;
  const std::vector<Point> kinds = {Point::Infinity(), Multiple<TypeParam>(1), -Multiple<TypeParam>(1),
                                    Multiple<TypeParam>(2), Multiple<TypeParam>(5)};
  std::vector<Point> points;
  std::vector<PointPair> pairs;
  for (const Point& a : kinds) {
    for (const Point& b : kinds) {
      pairs.push_back({static_cast<uint32_t>(points.size()), static_cast<uint32_t>(points.size() + 1)});
      points.insert(points.end(), {a, b});
    }
  }

  this->Check(points, pairs);
}

// One rare pair among ordinary ones, in each lane.
TYPED_TEST(BatchAddTest, ARarePairDoesNotDisturbItsNeighbours) {
  using Point = Affine<TypeParam>;
  const Point p = Multiple<TypeParam>(3);
  for (size_t place = 0; place < 16; ++place) {
    for (const auto& [a, b] : {std::pair(p, p), std::pair(p, -p), std::pair(Point::Infinity(), p),
                               std::pair(p, Point::Infinity())}) {
      std::vector<Point> points;
      std::vector<PointPair> pairs;
      for (uint32_t i = 0; i < 16; ++i) {
        pairs.push_back({2 * i, 2 * i + 1});
        points.push_back(i == place ? a : Multiple<TypeParam>(2 * i + 1));
        points.push_back(i == place ? b : Multiple<TypeParam>(2 * i + 2));
      }
      this->Check(points, pairs);
    }
  }
}

TYPED_TEST(BatchAddTest, AnyNumberOfPairsIsDone) {
  for (uint32_t n = 0; n <= 25; ++n) {
    std::vector<Affine<TypeParam>> points;
    std::vector<PointPair> pairs;
    for (uint32_t i = 0; i < n; ++i) {
      pairs.push_back({i, n + i});
      points.push_back(Multiple<TypeParam>(i + 1));
    }
    for (uint32_t i = 0; i < n; ++i) points.push_back(Multiple<TypeParam>(40 + i * i));
    this->Check(points, pairs);
  }
}

}  // namespace
}  // namespace proofmill::kernels
