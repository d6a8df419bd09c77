#include "kernels/cpu/batch_add.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/affine_curve.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class BatchAddTest : public testing::Test {};
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
  const std::vector<Point> before = points;
  std::vector<TypeParam> products(pairs.size());

  AddPairs(points.data(), pairs.data(), pairs.size(), products.data());

  for (const PointPair& pair : pairs) {
    EXPECT_EQ(points[pair.target], oracle::AddPoints(before[pair.target], before[pair.other]));
    EXPECT_EQ(points[pair.other], before[pair.other]);
  }
}

TYPED_TEST(BatchAddTest, NothingToAddIsFine) { AddPairs<TypeParam>(nullptr, nullptr, 0, nullptr); }

}  // namespace
}  // namespace proofmill::kernels
