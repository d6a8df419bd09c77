// The field arithmetic of the device against the host's. Without a GPU every test is skipped, and says so.

#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/cuda/field_ops.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
class CudaFieldTest : public GpuTest {
 protected:
  // All pairs of edge values, then random ones, then a tail that no block size divides.
  CudaFieldTest() {
    const std::vector<F> edges = Elements<F>::Edge();
    Random random(16);
    for (const F& x : edges) {
      for (const F& y : edges) Add(x, y);
    }
    for (int i = 0; i < 20003; ++i) {
      const F x = Elements<F>::Uniform(random);
      Add(x, Elements<F>::Uniform(random));
    }
  }
  void Add(const F& x, const F& y) {
    a_.push_back(x);
    b_.push_back(y);
  }
  using Launch = cudaError_t (*)(FieldOp, const F*, const F*, F*, size_t);
  std::vector<F> Run(FieldOp op, Launch launch = LaunchFieldOp<F>) {
    const DeviceVector<F> a(a_), b(b_), out(a_.size());
    EXPECT_EQ(launch(op, a.data(), b.data(), out.data(), a_.size()), cudaSuccess);
    return out.Download();
  }
  template <typename Expected>
  void Check(FieldOp op, Expected expected, Launch launch = LaunchFieldOp<F>) {
    const std::vector<F> got = Run(op, launch);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected(a_[i], b_[i])) << i;
  }

  std::vector<F> a_, b_;
};
using Fields = testing::Types<Fr, Fq, Fq2>;
TYPED_TEST_SUITE(CudaFieldTest, Fields);

TYPED_TEST(CudaFieldTest, SumsAreThoseOfTheHost) {
  using F = TypeParam;
  this->Check(FieldOp::kAdd, [](const F& a, const F& b) { return a + b; });
  this->Check(FieldOp::kSubtract, [](const F& a, const F& b) { return a - b; });
  this->Check(FieldOp::kNegate, [](const F& a, const F&) { return -a; });
  this->Check(FieldOp::kDouble, [](const F& a, const F&) { return a + a; });
}

TYPED_TEST(CudaFieldTest, ProductsAreThoseOfTheHost) {
  using F = TypeParam;
  this->Check(FieldOp::kMultiply, [](const F& a, const F& b) { return a * b; });
  this->Check(FieldOp::kSquare, [](const F& a, const F&) { return a * a; });
  this->Check(FieldOp::kDifferenceOfProducts, [](const F& a, const F& b) { return a * a - a * b; });
}

TYPED_TEST(CudaFieldTest, InversesGiveOneAndZeroGivesZero) {
  using F = TypeParam;
  const std::vector<F> got = this->Run(FieldOp::kInvert);
  size_t zeros = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const F& a = this->a_[i];
    ASSERT_EQ(got[i] * a, a.IsZero() ? F::Zero() : F::One()) << i;
    if (!a.IsZero()) continue;
    ASSERT_TRUE(got[i].IsZero()) << i;
    ++zeros;
  }
  EXPECT_GT(zeros, 0u);
}

using CudaLanesTest = CudaFieldTest<Fq2>;
TEST_F(CudaLanesTest, AnElementInTwoLanesIsTheSame) {
  const auto one_if = [](bool so) { return so ? Fq2::One() : Fq2::Zero(); };
  for (const FieldOp op :
       {FieldOp::kAdd, FieldOp::kSubtract, FieldOp::kMultiply, FieldOp::kNegate, FieldOp::kDouble,
        FieldOp::kSquare, FieldOp::kInvert, FieldOp::kDifferenceOfProducts}) {
    const std::vector<Fq2> expected = Run(op);
    const std::vector<Fq2> got = Run(op, LaunchFieldOpInLanes);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], expected[i]) << i << " of operation " << static_cast<int>(op);
  }
  Check(
      FieldOp::kIsZero, [&](const Fq2& a, const Fq2&) { return one_if(a.IsZero()); }, LaunchFieldOpInLanes);
  Check(
      FieldOp::kIsEqual, [&](const Fq2& a, const Fq2& b) { return one_if(a == b); }, LaunchFieldOpInLanes);
}

}  // namespace
}  // namespace proofmill::kernels
