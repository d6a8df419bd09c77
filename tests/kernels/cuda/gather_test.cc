// The sparse products on a device against the host's. Without a GPU every test is skipped, and says so.

#include "kernels/cuda/gather.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/gather.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kWires = 997;

struct Matrix {
  std::vector<uint32_t> row_offsets = {0};
  std::vector<uint32_t> columns;
  std::vector<Fr> values;

  void AddRow(uint32_t terms, Random& random) {
    for (uint32_t k = 0; k < terms; ++k) {
      columns.push_back(static_cast<uint32_t>(random() % kWires));
      values.push_back(Elements<Fr>::Uniform(random));
    }
    row_offsets.push_back(static_cast<uint32_t>(columns.size()));
  }
  std::vector<Fr> Times(const std::vector<U256>& witness) const {
    const std::vector<uint64_t> wide(row_offsets.begin(), row_offsets.end());
    std::vector<Fr> out(row_offsets.size() - 1);
    GatherRows({wide.data(), columns.data(), values.data(), out.size()}, witness.data(), out.data());
    return out;
  }
};

// A matrix in device memory.
struct DeviceMatrix {
  explicit DeviceMatrix(const Matrix& m) : row_offsets(m.row_offsets), columns(m.columns), values(m.values) {}
  DeviceCsr view() const { return {row_offsets.data(), columns.data(), values.data()}; }
  DeviceVector<uint32_t> row_offsets, columns;
  DeviceVector<Fr> values;
};

class CudaGatherTest : public GpuTest {};

TEST_F(CudaGatherTest, ShortEmptyAndLongRowsAreThoseOfTheHost) {
  Random random(7);
  constexpr uint32_t kProofs = 3;
  std::vector<U256> witnesses(size_t{kProofs} * kWires);
  for (U256& w : witnesses) w = RandomBelow<FrParams>(random);
  Matrix a, b;
  std::vector<uint32_t> long_rows;
  // Around the border between short and long rows, and far beyond it.
  const uint32_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 1000, 5000};
  for (const uint32_t of_a : lengths) {
    for (const uint32_t of_b : lengths) {
      if (of_a + of_b > kGatherShortRowTerms)
        long_rows.push_back(static_cast<uint32_t>(a.row_offsets.size() - 1));
      a.AddRow(of_a, random);
      b.AddRow(of_b, random);
    }
  }
  const auto n = static_cast<uint32_t>(a.row_offsets.size() - 1);
  const DeviceMatrix device_a(a), device_b(b);
  const DeviceVector<U256> device_witnesses(witnesses);
  const DeviceVector<uint32_t> device_long_rows(long_rows);
  const DeviceVector<Fr> abc(3 * size_t{kProofs} * n);

  ASSERT_EQ(
      LaunchGather(device_a.view(), device_b.view(), {device_witnesses.data(), kWires, kProofs}, n,
                   device_long_rows.data(), static_cast<uint32_t>(long_rows.size()), abc.data(), nullptr),
      cudaSuccess);

  const std::vector<Fr> all = abc.Download();
  for (size_t proof = 0; proof < kProofs; ++proof) {
    const U256* const own = witnesses.data() + proof * kWires;
    const std::vector<U256> witness(own, own + kWires);
    const std::vector<Fr> expected_a = a.Times(witness);
    const std::vector<Fr> expected_b = b.Times(witness);
    const Fr* const got = all.data() + 3 * proof * n;
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(got[i], expected_a[i]) << proof << ", " << i;
      ASSERT_EQ(got[n + i], expected_b[i]) << proof << ", " << i;
      ASSERT_EQ(got[2 * size_t{n} + i], expected_a[i] * expected_b[i]) << proof << ", " << i;
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
