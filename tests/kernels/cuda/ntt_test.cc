// Transforms and H on a device against the host's. Without a GPU every test is skipped, and says so.

#include "kernels/cuda/ntt.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/ntt.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kLog2Max = 18;  // two passes from 11 on, three from 18 on

// The tables of one domain with their memory.
struct Tables {
  explicit Tables(uint32_t log2_n) : roots(size_t{1} << log2_n), coset(size_t{1} << log2_n) {
    view = {log2_n, roots.data(), coset.data()};
    EXPECT_EQ(LaunchNttTables(view, nullptr), cudaSuccess);
  }
  DeviceVector<Fr> roots, coset;
  NttTables view;
};

std::vector<Fr> RandomVector(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<Fr> out(n);
  for (Fr& x : out) x = Elements<Fr>::Uniform(random);
  return out;
}

std::vector<U256> HostH(uint32_t log2_n, std::vector<Fr> abc) {
  const NttDomain domain(log2_n);
  const size_t n = domain.size();
  for (size_t vector = 0; vector < 3; ++vector) {
    Fr* values = abc.data() + vector * n;
    domain.InverseToBitReversed(values);
    domain.ScaleToCosetFromBitReversed(values);
    domain.ForwardFromBitReversed(values);
  }
  std::vector<U256> h(n);
  for (size_t i = 0; i < n; ++i) h[i] = (abc[i] * abc[n + i] - abc[2 * n + i]).ToPlain();
  return h;
}

class CudaNttTest : public GpuTest {};

TEST_F(CudaNttTest, InverseThenForwardIsTheLengthTimesTheInput) {
  for (uint32_t log2_n = 1; log2_n <= kLog2Max; ++log2_n) {
    const Tables tables(log2_n);
    const size_t n = size_t{1} << log2_n;
    const std::vector<Fr> input = RandomVector(2 * n, log2_n);
    const DeviceVector<Fr> values(input);

    ASSERT_EQ(LaunchNttInverse(tables.view, values.data(), 2, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchNttForward(tables.view, values.data(), 2, nullptr), cudaSuccess);

    const std::vector<Fr> got = values.Download();
    const Fr length = Fr::FromUint64(n);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], input[i] * length) << log2_n << " " << i;
  }
}

TEST_F(CudaNttTest, CoefficientsAreThoseOfTheHost) {
  for (uint32_t log2_n = 1; log2_n <= kLog2Max; ++log2_n) {
    const Tables tables(log2_n);
    std::vector<Fr> expected = RandomVector(size_t{1} << log2_n, log2_n);
    const DeviceVector<Fr> values(expected);

    ASSERT_EQ(LaunchNttInverse(tables.view, values.data(), 1, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchNttCoset(tables.view, values.data(), 1, nullptr), cudaSuccess);

    const NttDomain domain(log2_n);
    domain.InverseToBitReversed(expected.data());
    domain.ScaleToCosetFromBitReversed(expected.data());
    EXPECT_EQ(values.Download(), expected) << log2_n;
  }
}

TEST_F(CudaNttTest, HIsThatOfTheHostFusedOrNot) {
  for (uint32_t log2_n = 1; log2_n <= kLog2Max; ++log2_n) {
    const Tables tables(log2_n);
    const size_t n = size_t{1} << log2_n;
    const std::vector<Fr> input = RandomVector(3 * n, log2_n);
    const DeviceVector<Fr> fused_input(input), unfused_input(input), in_place(input);
    const DeviceVector<U256> fused(n), unfused(n);
    auto* const in_place_of_c = reinterpret_cast<U256*>(in_place.data() + 2 * n);

    ASSERT_EQ(LaunchComputeH(tables.view, fused_input.data(), fused.data(), 1, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchComputeH(tables.view, in_place.data(), in_place_of_c, 1, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchComputeHUnfused(tables.view, unfused_input.data(), unfused.data(), nullptr), cudaSuccess);

    const std::vector<U256> expected = HostH(log2_n, input);
    EXPECT_EQ(fused.Download(), expected) << log2_n;
    std::vector<U256> got(n);
    ASSERT_EQ(cudaMemcpy(got.data(), in_place_of_c, n * sizeof(U256), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(got, expected) << log2_n;
    EXPECT_EQ(unfused.Download(), expected) << log2_n;
  }
}

// The H of each proof of a batch, in the place of its C.
TEST_F(CudaNttTest, EachHOfABatchIsThatOfTheHost) {
  constexpr uint32_t kBatch = 3;
  for (uint32_t log2_n = 1; log2_n <= kLog2Max; ++log2_n) {
    const Tables tables(log2_n);
    const size_t n = size_t{1} << log2_n;
    const std::vector<Fr> input = RandomVector(kBatch * 3 * n, log2_n);
    const DeviceVector<Fr> abc(input);
    auto* const h = reinterpret_cast<U256*>(abc.data() + 2 * n);

    ASSERT_EQ(LaunchComputeH(tables.view, abc.data(), h, kBatch, nullptr), cudaSuccess);

    for (size_t proof = 0; proof < kBatch; ++proof) {
      const auto begin = input.begin() + static_cast<std::ptrdiff_t>(proof * 3 * n);
      const std::vector<Fr> own(begin, begin + static_cast<std::ptrdiff_t>(3 * n));
      std::vector<U256> got(n);
      ASSERT_EQ(cudaMemcpy(got.data(), h + proof * 3 * n, n * sizeof(U256), cudaMemcpyDeviceToHost),
                cudaSuccess);
      EXPECT_EQ(got, HostH(log2_n, own)) << log2_n << ", proof " << proof;
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
