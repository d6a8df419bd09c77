// Sums of multiples on a device against the host's, over sizes, windows, resident multiples and the ways in
// which witnesses are spread. Without a GPU every test is skipped, and says so.

#include "kernels/cuda/msm.h"

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/msm.h"
#include "tests/kernels/cuda/device_vector.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

// n different multiples of the generator; every fourth pair is equal and opposite.
template <typename F>
std::vector<Affine<F>> Bases(size_t n) {
  std::vector<Xyzz<F>> points(n);
  Xyzz<F> next = Xyzz<F>::FromAffine(Generator<F>::kValue);
  for (size_t i = 0; i < n; ++i) {
    points[i] = i % 8 == 1 ? -points[i - 1] : (i % 8 == 3 ? points[i - 1] : next);
    next += Generator<F>::kValue;
  }
  std::vector<Affine<F>> out(n);
  if (n != 0) BatchToAffine(points.data(), out.data(), n);
  return out;
}

// Uploads bases, makes their multiples, sums, and joins the bucket sets, of each MSM of the batch.
template <typename F>
std::vector<Xyzz<F>> DeviceMsms(const MsmShape& shape, const std::vector<Affine<F>>& bases,
                                const std::vector<U256>& scalars, const std::vector<uint32_t>& index) {
  uint32_t slices_max = 0;
  size_t bytes = 0;
  EXPECT_EQ(MsmSlicesMax<F>(&slices_max), cudaSuccess);
  EXPECT_EQ(MsmWorkspaceBytes<F>(shape, slices_max, &bytes), cudaSuccess);
  const DeviceVector<uint8_t> memory(bytes);
  MsmWorkspace<F> workspace;
  EXPECT_EQ(MsmCutWorkspace<F>(shape, slices_max, memory.data(), &workspace), cudaSuccess);

  const size_t n = bases.size();
  const DeviceVector<Affine<F>> tables(n * shape.tables);
  if (n != 0) cudaMemcpy(tables.data(), bases.data(), n * sizeof(Affine<F>), cudaMemcpyHostToDevice);
  for (uint32_t t = 1; t < shape.tables; ++t) {
    EXPECT_EQ(LaunchMsmTableStep<F>(tables.data() + (t - 1) * n, tables.data() + t * n, shape.bases,
                                    shape.window_bits * shape.sets(), nullptr),
              cudaSuccess);
  }
  const DeviceVector<U256> device_scalars(scalars);
  const DeviceVector<uint32_t> device_index(index);
  const DeviceVector<Xyzz<F>> result(size_t{shape.batch} * shape.parts());
  for (uint32_t chunk = 0; chunk < shape.chunks; ++chunk) {
    const MsmScalars all{device_scalars.data(), index.empty() ? nullptr : device_index.data(),
                         scalars.size() / shape.batch};
    EXPECT_EQ(LaunchMsmDigits<F>(shape, chunk, all, workspace, nullptr), cudaSuccess);
    uint32_t entries = 0;
    if (!shape.is_padded()) {
      EXPECT_EQ(cudaMemcpy(&entries, workspace.counters, sizeof(entries), cudaMemcpyDeviceToHost),
                cudaSuccess);
      EXPECT_LE(entries, shape.entries_max());
    }
    EXPECT_EQ(LaunchMsmBuckets<F>(shape, chunk, tables.data(), entries, workspace, nullptr), cudaSuccess);
  }
  EXPECT_EQ(LaunchMsmReduce<F>(shape, workspace, result.data(), nullptr), cudaSuccess);
  const std::vector<Xyzz<F>> parts = result.Download();
  std::vector<Xyzz<F>> sums;
  for (uint32_t m = 0; m < shape.batch; ++m)
    sums.push_back(JoinMsmParts(shape, parts.data() + size_t{m} * shape.parts()));
  return sums;
}

template <typename F>
Xyzz<F> DeviceMsm(const MsmShape& shape, const std::vector<Affine<F>>& bases,
                  const std::vector<U256>& scalars, const std::vector<uint32_t>& index) {
  return DeviceMsms(shape, bases, scalars, index).front();
}

struct Spread {
  std::string name;
  std::function<U256(size_t i, Random&)> scalar;
};

std::vector<Spread> Spreads() {
  U256 minus_one = Fr::kModulus;
  minus_one.limb[0] -= 1;
  const U256 one{{1, 0, 0, 0}};
  Random random(5);
  const U256 same = RandomBelow<FrParams>(random);
  const auto uniform = [](size_t, Random& r) { return RandomBelow<FrParams>(r); };
  return {{"uniform", uniform},
          {"all zero", [](size_t, Random&) { return U256{}; }},
          {"all zero but one", [=](size_t i, Random&) { return i == 0 ? same : U256{}; }},
          {"all one", [=](size_t, Random&) { return one; }},
          {"all r - 1", [=](size_t, Random&) { return minus_one; }},
          {"all the same", [=](size_t, Random&) { return same; }},
          {"2^253", [](size_t, Random&) { return PowerOfTwo(253); }},
          {"64 bits",
           [](size_t, Random& r) {
             return U256{{r(), 0, 0, 0}};
           }},
          {"bits",
           [=](size_t, Random& r) {
             return U256{{r() % 2, 0, 0, 0}};
           }},
          {"one in ten full", [=](size_t i, Random& r) {
             return i % 10 == 0 ? uniform(i, r) : U256{{r() % 2, 0, 0, 0}};
           }}};
}

template <typename F>
class CudaMsmTest : public GpuTest {
 protected:
  void Check(size_t n, uint32_t window_bits, uint32_t tables, const Spread& spread, uint32_t chunks = 1) {
    SCOPED_TRACE(testing::Message() << n << " bases, window " << window_bits << ", " << tables
                                    << " multiples, " << spread.name << ", " << chunks << " chunks");
    Random random(n);
    std::vector<U256> scalars(n);
    for (size_t i = 0; i < n; ++i) scalars[i] = spread.scalar(i, random);
    const std::vector<Affine<F>> bases = Bases<F>(n);
    MsmShape shape;
    shape.bases = static_cast<uint32_t>(n);
    shape.window_bits = window_bits;
    shape.tables = tables == 0 ? shape.windows() : tables;
    shape.chunks = chunks;
    const Xyzz<F> expected = Msm(bases.data(), scalars.data(), nullptr, n);

    for (const MsmAffine affine : {MsmAffine::kNever, MsmAffine::kAlways, MsmAffine::kWhereFaster}) {
      for (const MsmPadding padding : {MsmPadding::kNever, MsmPadding::kAlways}) {
        shape.affine = affine;
        shape.padding = padding;
        EXPECT_EQ(DeviceMsm<F>(shape, bases, scalars, {}), expected)
            << "affine " << static_cast<int>(affine) << ", padding " << static_cast<int>(padding);
      }
    }
  }
};
using CoordinateFields = testing::Types<Fq, Fq2>;
TYPED_TEST_SUITE(CudaMsmTest, CoordinateFields);

TYPED_TEST(CudaMsmTest, EverySpreadOfScalarsIsExact) {
  for (const Spread& spread : Spreads()) this->Check(3000, 10, 0, spread);
}

TYPED_TEST(CudaMsmTest, EverySizeIsExact) {
  for (const size_t n : {0u, 1u, 2u, 31u, 32u, 33u, 127u, 128u, 129u, 1000u})
    this->Check(n, 7, 0, Spreads()[0]);
}

TYPED_TEST(CudaMsmTest, EveryWindowIsExact) {
  for (uint32_t window = kMsmWindowBitsMin; window <= 17; ++window) this->Check(300, window, 0, Spreads()[0]);
}

TYPED_TEST(CudaMsmTest, FewerResidentMultiplesGiveTheSameSum) {
  for (const uint32_t tables : {1u, 2u, 3u, 7u, 13u}) this->Check(300, 8, tables, Spreads()[0]);
}

// The sets of up to 16 windows are joined on the device, as those of one window are.
TYPED_TEST(CudaMsmTest, EveryNumberOfBucketSetsGivesTheSameSum) {
  for (const uint32_t window : {uint32_t{kMsmWindowBitsMin}, 5u, 9u, 17u, 18u}) {
    const uint32_t windows = MsmShape{.bases = 1, .window_bits = window}.windows();
    for (uint32_t tables = 1; tables <= windows; tables = tables * 2 + 1)
      this->Check(40, window, tables, Spreads()[0]);
  }
}

// Every spread in chunks: buckets that go on from one chunk to the next, in one slice, in a few and in many,
// chunks without entries, and a last chunk that is shorter or empty.
TYPED_TEST(CudaMsmTest, ChunksGiveTheSameSum) {
  for (const Spread& spread : Spreads()) {
    this->Check(3000, 10, 0, spread, 7);
    this->Check(3000, 6, 1, spread, 2);
  }
  for (const uint32_t chunks : {2u, 3u, 5u, 32u}) {
    for (const size_t n : {0u, 1u, 5u, 33u, 1000u}) this->Check(n, 7, 3, Spreads()[0], chunks);
  }
}

TYPED_TEST(CudaMsmTest, ManyTermsInOneBucketAreExactInChunks) {
  for (const size_t spread : {3u, 5u, 8u}) this->Check(100000, 8, 1, Spreads()[spread], 3);
}

TYPED_TEST(CudaMsmTest, ManyTermsInOneBucketAreExact) {
  for (const size_t spread : {3u, 5u, 8u, 9u}) this->Check(100000, 13, 1, Spreads()[spread]);
}

// MSMs of one batch with scalars of every kind, some with none that counts, by an index that skips some: each
// gets its own sum.
TYPED_TEST(CudaMsmTest, EachMsmOfABatchIsExact) {
  using F = TypeParam;
  const std::vector<Spread> spreads = Spreads();
  constexpr size_t kBases = 1500;
  constexpr size_t kScalars = 2 * kBases;
  const std::vector<Affine<F>> bases = Bases<F>(kBases);
  std::vector<uint32_t> index(kBases);
  for (size_t i = 0; i < kBases; ++i) index[i] = static_cast<uint32_t>(2 * i + i % 2);
  for (const uint32_t batch : {2u, 3u, 16u}) {
    std::vector<U256> scalars(batch * kScalars);
    std::vector<Xyzz<F>> expected;
    for (uint32_t m = 0; m < batch; ++m) {
      Random random(m);
      U256* const own = scalars.data() + m * kScalars;
      for (size_t i = 0; i < kScalars; ++i) own[i] = spreads[m % spreads.size()].scalar(i, random);
      std::vector<U256> used;
      for (const uint32_t i : index) used.push_back(own[i]);
      expected.push_back(Msm(bases.data(), used.data(), nullptr, kBases));
    }
    MsmShape shape{.bases = kBases, .batch = batch};
    for (const uint32_t window : {4u, 10u, 13u}) {
      shape.window_bits = window;
      for (const uint32_t tables : {1u, shape.windows() / 2, shape.windows()}) {
        shape.tables = tables;
        for (const uint32_t chunks : {1u, 3u}) {
          shape.chunks = chunks;
          for (const MsmAffine affine : {MsmAffine::kNever, MsmAffine::kAlways}) {
            shape.affine = affine;
            for (const MsmPadding padding : {MsmPadding::kNever, MsmPadding::kAlways}) {
              shape.padding = padding;
              EXPECT_EQ(DeviceMsms<F>(shape, bases, scalars, index), expected)
                  << batch << " MSMs, window " << window << ", " << tables << " multiples, " << chunks
                  << " chunks, affine " << static_cast<int>(affine) << ", padding "
                  << static_cast<int>(padding);
            }
          }
        }
      }
    }
  }
}

// Just long enough not to be padded, and just short enough.
TYPED_TEST(CudaMsmTest, ListsAroundTheLengthUpToWhichTheyArePaddedAreExact) {
  const MsmShape one{.bases = 1, .window_bits = 8, .tables = 1};
  const uint32_t last = kMsmPaddedEntriesMax / one.windows();
  for (const uint32_t n : {last, last + 1}) {
    MsmShape shape = one;
    shape.bases = n;
    ASSERT_EQ(shape.is_padded(), n == last);
    Random random(n);
    std::vector<U256> scalars(n);
    for (U256& s : scalars) s = RandomBelow<FrParams>(random);
    const auto bases = Bases<TypeParam>(n);
    EXPECT_EQ(DeviceMsm<TypeParam>(shape, bases, scalars, {}), Msm(bases.data(), scalars.data(), nullptr, n));
  }
}

// Groups of entries meet every exceptional sum: each base comes four times, with either sign.
TYPED_TEST(CudaMsmTest, FullGroupsOfEqualAndOppositePointsAreExact) {
  for (const size_t spread : {3u, 4u, 5u, 6u}) this->Check(40000, 6, 1, Spreads()[spread]);
}

TYPED_TEST(CudaMsmTest, AnIndexPicksTheScalars) {
  Random random(3);
  std::vector<U256> scalars(50);
  for (U256& s : scalars) s = RandomBelow<FrParams>(random);
  const std::vector<uint32_t> index = {49, 0, 7, 7, 13};
  const auto bases = Bases<TypeParam>(index.size());
  MsmShape shape;
  shape.bases = static_cast<uint32_t>(index.size());
  shape.window_bits = 5;
  shape.tables = shape.windows();

  const auto got = DeviceMsm<TypeParam>(shape, bases, scalars, index);

  EXPECT_EQ(got, Msm(bases.data(), scalars.data(), index.data(), index.size()));
}

}  // namespace
}  // namespace proofmill::kernels
