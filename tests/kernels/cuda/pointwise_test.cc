// The first kernels against the host. Without a GPU every test is skipped, and says so.

#include "kernels/cuda/pointwise.h"

#include <cuda_runtime_api.h>

#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

class PointwiseTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    // All pairs of edge values, then random ones, then a tail that no block size divides.
    const std::vector<Fr> edges = Elements<Fr>::Edge();
    Random random(16);
    for (const Fr& x : edges) {
      for (const Fr& y : edges) Add(x, y, random);
    }
    while (a_.size() < 100003) Add(Elements<Fr>::Uniform(random), Elements<Fr>::Uniform(random), random);
  }
  void Add(const Fr& x, const Fr& y, Random& random) {
    a_.push_back(x);
    b_.push_back(y);
    c_.push_back(Elements<Fr>::Uniform(random));
  }

  std::vector<Fr> a_, b_, c_;
};

TEST_F(PointwiseTest, ProductsAreThoseOfTheHost) {
  const DeviceVector<Fr> a(a_), b(b_), out(c_);

  ASSERT_EQ(LaunchPointwiseMul(a.data(), b.data(), out.data(), a_.size(), nullptr), cudaSuccess);

  const std::vector<Fr> got = out.Download();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a_[i] * b_[i]) << i;
}

TEST_F(PointwiseTest, ProductsMayReplaceAnOperand) {
  const DeviceVector<Fr> a(a_), b(b_);

  ASSERT_EQ(LaunchPointwiseMul(a.data(), b.data(), a.data(), a_.size(), nullptr), cudaSuccess);

  const std::vector<Fr> got = a.Download();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a_[i] * b_[i]) << i;
}

TEST_F(PointwiseTest, ProductsLessAThirdVectorAreThoseOfTheHost) {
  const DeviceVector<Fr> a(a_), b(b_), c(c_);

  ASSERT_EQ(LaunchPointwiseMulSub(a.data(), b.data(), c.data(), c.data(), a_.size(), nullptr), cudaSuccess);

  const std::vector<Fr> got = c.Download();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a_[i] * b_[i] - c_[i]) << i;
}

TEST_F(PointwiseTest, NothingToDoIsNoError) {
  EXPECT_EQ(LaunchPointwiseMul(nullptr, nullptr, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(LaunchPointwiseMulSub(nullptr, nullptr, nullptr, nullptr, 0, nullptr), cudaSuccess);
}

}  // namespace
}  // namespace proofmill::kernels
