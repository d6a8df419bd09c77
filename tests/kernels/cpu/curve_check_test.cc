#include "kernels/cpu/curve_check.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/arithmetic.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

// The numbers of Fq in a coordinate.
size_t Parts(const Fq&) { return 1; }
size_t Parts(const Fq2&) { return 2; }
Fq& Part(Fq& x, size_t) { return x; }
Fq& Part(Fq2& x, size_t i) { return i == 0 ? x.c0 : x.c1; }

template <typename F>
class CurveCheckTest : public testing::Test {
 protected:
  ~CurveCheckTest() override { SetArithmetic(SupportedArithmetics().back()); }

  static std::vector<Affine<F>> Points(size_t n) {
    std::vector<Affine<F>> out;
    for (size_t i = 0; i < n; ++i) {
      out.push_back(i % 5 == 2 ? Affine<F>::Infinity() : Multiple<F>(static_cast<uint32_t>(i + 1)));
    }
    return out;
  }
  // points[place] = p must be refused, on every arithmetic.
  static void ExpectFault(std::vector<Affine<F>> points, size_t place, const Affine<F>& p, const char* what) {
    points[place] = p;
    for (const Arithmetic arithmetic : SupportedArithmetics()) {
      SetArithmetic(arithmetic);
      EXPECT_FALSE(AllOnCurve(points.data(), points.size()))
          << what << " at " << place << ", " << ArithmeticName(arithmetic);
    }
  }
};
using Coordinates = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(CurveCheckTest, Coordinates);

TYPED_TEST(CurveCheckTest, PointsOfTheCurveAndInfinitiesAreFineInAnyNumber) {
  for (size_t n = 0; n <= 20; ++n) {
    const auto points = this->Points(n);
    for (const Arithmetic arithmetic : SupportedArithmetics()) {
      SetArithmetic(arithmetic);
      EXPECT_TRUE(AllOnCurve(points.data(), n)) << n << " points, " << ArithmeticName(arithmetic);
    }
  }
}

TYPED_TEST(CurveCheckTest, AFaultAnywhereIsSeen) {
  using Point = Affine<TypeParam>;
  const auto points = this->Points(19);
  const Point p = Multiple<TypeParam>(7);
  for (size_t place = 0; place < points.size(); ++place) {
    this->ExpectFault(points, place, {p.x, p.y + TypeParam::One()}, "another y");
    this->ExpectFault(points, place, {p.x + TypeParam::One(), p.y}, "another x");
    this->ExpectFault(points, place, {TypeParam::Zero(), p.y}, "x = 0");
    this->ExpectFault(points, place, {p.x, TypeParam::Zero()}, "y = 0");
  }
}

// The same residues, not reduced: x + kq for the k that fit in 256 bits.
TYPED_TEST(CurveCheckTest, CoordinatesOfQOrMoreAreSeen) {
  using Point = Affine<TypeParam>;
  const auto points = this->Points(9);
  for (const Point& p : {Multiple<TypeParam>(7), Point::Infinity()}) {
    for (size_t part = 0; part < Parts(p.x); ++part) {
      for (int k = 1; k <= 4; ++k) {
        Point bad_x = p, bad_y = p;
        for (Fq* coordinate : {&Part(bad_x.x, part), &Part(bad_y.y, part)}) {
          U256 sum = coordinate->montgomery();
          for (int i = 0; i < k; ++i) Add(sum, Fq::kModulus, sum);
          *coordinate = Fq::FromMontgomery(sum);
        }
        this->ExpectFault(points, 3, bad_x, "a large x");
        this->ExpectFault(points, 3, bad_y, "a large y");
      }
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
