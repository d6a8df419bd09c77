// Multiples of one base on a device against the host's. Without a GPU every test is skipped, and says so.

#include "kernels/cuda/fixed_base.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/msm.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
std::vector<Affine<F>> DeviceMultiples(const FixedBaseTable<F>& table, const std::vector<Fr>& scalars) {
  const DeviceVector<Affine<F>> multiples(table.multiples());
  const DeviceVector<Fr> device_scalars(scalars);
  // Neither infinity nor a multiple of anything.
  const DeviceVector<Affine<F>> out(std::vector<Affine<F>>(scalars.size(), {F::One(), F::One()}));
  EXPECT_EQ(LaunchFixedBaseMultiply<F>({FixedBaseTable<F>::Digits(), multiples.data()}, device_scalars.data(),
                                       static_cast<uint32_t>(scalars.size()), out.data(), nullptr),
            cudaSuccess);
  return out.Download();
}

template <typename F>
class CudaFixedBaseTest : public GpuTest {
 protected:
  // Edge values, among them 0, 1 and r - 1, and random ones, each twice.
  static std::vector<Fr> Scalars(size_t n) {
    std::vector<Fr> scalars = Elements<Fr>::Edge();
    Random random(14);
    while (scalars.size() < n) {
      scalars.push_back(Elements<Fr>::Uniform(random));
      scalars.push_back(scalars.back());
    }
    scalars.resize(n);
    return scalars;
  }
};
using CoordinateFields = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(CudaFixedBaseTest, CoordinateFields);

TYPED_TEST(CudaFixedBaseTest, MultipliesTheBaseByEveryScalarAtEverySize) {
  const FixedBaseTable<TypeParam> table(Multiple<TypeParam>(12345));
  for (const size_t n : {0u, 1u, 2u, 31u, 127u, 128u, 129u, 5000u, 100'000u}) {
    const std::vector<Fr> scalars = this->Scalars(n);
    std::vector<Affine<TypeParam>> expected(n);
    table.Multiply(scalars.data(), expected.data(), n);

    const std::vector<Affine<TypeParam>> out = DeviceMultiples(table, scalars);

    ASSERT_EQ(out.size(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], expected[i]) << i << " of " << n;
  }
}

TYPED_TEST(CudaFixedBaseTest, ABlockOfZerosOrOfOneScalarIsExact) {
  const FixedBaseTable<TypeParam> table(Generator<TypeParam>::kValue);
  for (const Fr& scalar : {Fr::Zero(), Fr::One(), -Fr::One(), Fr::FromUint64(uint64_t{1} << 40)}) {
    const Affine<TypeParam> expected = Multiple<TypeParam>(scalar.ToPlain());
    for (const Affine<TypeParam>& p : DeviceMultiples(table, std::vector<Fr>(300, scalar))) {
      ASSERT_EQ(p, expected);
    }
  }
}

TYPED_TEST(CudaFixedBaseTest, MultiplesOfInfinityAreInfinity) {
  const FixedBaseTable<TypeParam> table(Affine<TypeParam>::Infinity());
  for (const Affine<TypeParam>& p : DeviceMultiples(table, this->Scalars(300))) {
    ASSERT_TRUE(p.IsInfinity());
  }
}

}  // namespace
}  // namespace proofmill::kernels
