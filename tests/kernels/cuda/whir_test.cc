// The kernels of WHIR on a device against the host's: permutation, transform, trees, nonces, sumcheck.
// Without a GPU every test is skipped, and says so.

#include <algorithm>
#include <array>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/babybear_ntt.h"
#include "kernels/cpu/poseidon2_hash.h"
#include "kernels/cpu/sumcheck.h"
#include "kernels/cuda/babybear_ntt.h"
#include "kernels/cuda/evaluate.h"
#include "kernels/cuda/grind.h"
#include "kernels/cuda/merkle.h"
#include "kernels/cuda/sumcheck.h"
#include "kernels/field/small_rng.h"
#include "tests/kernels/cuda/device_vector.h"

namespace proofmill::kernels {
namespace {

const Poseidon2Constants<16>& Constants() { return Poseidon2Width16(Poseidon2Set::kGrainLfsr); }

std::vector<uint32_t> RandomWords(SmallRng& rng, size_t n) {
  std::vector<uint32_t> out(n);
  for (uint32_t& word : out) word = rng.NextBabyBear().montgomery();
  // Values at the ends of the range in places that every size has.
  if (n > 0) out[0] = kBabyBearP - 1;
  if (n > 2) out[n - 1] = 0;
  return out;
}
template <int kD>
BabyBearExt<kD> ExtAt(const std::vector<uint32_t>& words, size_t i) {
  BabyBearExt<kD> out{};
  for (size_t k = 0; k < kD; ++k) out.c[k] = BabyBear::FromMontgomery(words[i * kD + k]);
  return out;
}
template <int kD>
std::vector<BabyBearExt<kD>> ExtsOf(const std::vector<uint32_t>& words) {
  std::vector<BabyBearExt<kD>> out;
  for (size_t i = 0; i * kD < words.size(); ++i) out.push_back(ExtAt<kD>(words, i));
  return out;
}

class CudaWhirTest : public GpuTest {};

TEST_F(CudaWhirTest, PermutationsAreThoseOfTheHost) {
  constexpr uint32_t kStates = 1000, kTimes = 3;
  for (const Poseidon2Set set : {Poseidon2Set::kGrainLfsr, Poseidon2Set::kSmallRngSeed1}) {
    const auto& constants = Poseidon2Width16(set);
    SmallRng rng(1);
    std::vector<uint32_t> states = RandomWords(rng, 16 * kStates);
    const DeviceVector<uint32_t> device(states), quads(states), spread(states);
    ASSERT_EQ(LaunchPermutations(constants, device.data(), kStates, kTimes, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchQuadPermutations(constants, quads.data(), kStates, kTimes, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchSpreadPermutations(constants, spread.data(), kStates, kTimes, nullptr), cudaSuccess);
    const std::vector<uint32_t> got = device.Download();
    ASSERT_EQ(quads.Download(), got);
    ASSERT_EQ(spread.Download(), got);
    for (uint32_t i = 0; i < kStates; ++i) {
      std::array<BabyBear, 16> s;
      for (size_t j = 0; j < 16; ++j) s[j] = BabyBear::FromMontgomery(states[16 * i + j]);
      for (uint32_t t = 0; t < kTimes; ++t) Poseidon2Permute(constants, s.data());
      for (size_t j = 0; j < 16; ++j) ASSERT_EQ(got[16 * i + j], s[j].montgomery()) << i << " " << j;
    }
  }
}

struct EncodeCase {
  uint32_t planes, log2_length, log2_columns, log2_height;
};
TEST_F(CudaWhirTest, EncodingsAreThoseOfTheHost) {
  std::vector<EncodeCase> cases = {{1, 0, 0, 0},   {1, 0, 0, 3},   {4, 3, 3, 2},   {1, 14, 0, 14},
                                   {1, 14, 0, 15}, {5, 16, 2, 15}, {1, 19, 0, 20}, {1, 24, 1, 24},
                                   {1, 23, 0, 23}, {4, 18, 3, 17}, {1, 22, 0, 22}, {1, 16, 6, 16}};
  for (uint32_t size = 1; size <= 13; ++size) cases.push_back({1, size + 1, 1, size + size % 4});
  uint32_t height_max = 0;
  for (const EncodeCase& c : cases) height_max = std::max(height_max, c.log2_height);
  const BabyBearNtt ntt(height_max);
  const DeviceVector<uint32_t> twiddles((size_t{1} << height_max) / 2);
  ASSERT_EQ(LaunchBabyBearTwiddles(twiddles.data(), height_max, nullptr), cudaSuccess);
  SmallRng rng(2);
  for (const EncodeCase& c : cases) {
    const size_t stride = (size_t{1} << c.log2_length) + 3;
    const std::vector<uint32_t> in = RandomWords(rng, c.planes * stride);
    std::vector<uint32_t> expected(size_t{c.planes} << c.log2_columns << c.log2_height);
    ntt.Encode({in.data(), stride, c.planes, c.log2_length}, c.log2_columns, c.log2_height, expected.data());

    const DeviceVector<uint32_t> device_in(in), device_out(expected.size());
    ASSERT_EQ(LaunchEncode({twiddles.data(), device_in.data(), stride, c.planes, c.log2_length,
                            c.log2_columns, c.log2_height, device_out.data()},
                           nullptr),
              cudaSuccess);
    ASSERT_TRUE(device_out.Download() == expected)
        << c.planes << " " << c.log2_length << " " << c.log2_columns << " " << c.log2_height;
  }
}

// Of `size` base elements, or of elements side by side.
BabyBearExt<4> RowValue(const uint32_t* row, size_t size, bool extension,
                        const std::vector<uint32_t>& point) {
  if (!extension) return EvaluateBase<4>(row, ExtsOf<4>(point));
  std::vector<uint32_t> planes(4 * size);
  for (size_t i = 0; i < planes.size(); ++i) planes[i % 4 * size + i / 4] = row[i];
  return EvaluateExt<4>({planes.data(), size}, ExtsOf<4>(point));
}

TEST_F(CudaWhirTest, TreesAndOpeningsAreThoseOfTheHost) {
  SmallRng rng(3);
  const std::pair<uint32_t, uint32_t> shapes[] = {// width, log2 of the height
                                                  {1, 0},  {8, 0},  {3, 1},  {2, 2}, {8, 3},  {9, 4},
                                                  {16, 5}, {70, 6}, {40, 8}, {7, 9}, {4, 10}, {20, 11},
                                                  {8, 15}, {9, 16}, {2, 17}, {1, 18}};
  for (const auto& [width, log2_height] : shapes) {
    const std::vector<uint32_t> words = RandomWords(rng, size_t{width} << log2_height);
    const ColumnMatrix matrix{words.data(), width, log2_height};
    std::vector<Digest> digests(MerkleTree::DigestCount(log2_height));
    const MerkleTree expected(Constants(), matrix, digests.data());
    const DeviceVector<uint32_t> device_words(words), tree(MerkleTreeWords(log2_height)),
        plain(MerkleTreeWords(log2_height));
    const DeviceMatrix device_matrix{device_words.data(), width, log2_height};
    ASSERT_EQ(LaunchMerkleTree(Constants(), device_matrix, tree.data(), nullptr), cudaSuccess);
    ASSERT_EQ(LaunchMerkleTreeUnfused(Constants(), device_matrix, plain.data(), nullptr), cudaSuccess);
    const std::vector<uint32_t> got = tree.Download();
    EXPECT_EQ(got, plain.Download()) << width << " " << log2_height;
    ASSERT_EQ(got.size(), 8 * digests.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], digests[i / 8][i % 8].montgomery()) << width << " " << log2_height << " " << i;
    ASSERT_EQ(MerkleRootPlace(log2_height), got.size() - 8);

    // All positions of small trees, more places than positions.
    std::vector<uint32_t> positions;
    for (uint32_t i = 0; i < std::min(1u << log2_height, 100u); ++i)
      positions.push_back(log2_height < 7 ? i : static_cast<uint32_t>(rng.NextU64() % (1u << log2_height)));
    const auto count = static_cast<uint32_t>(positions.size());
    const size_t each = width + 8 * size_t{log2_height};
    // Rows of as many elements as a power of two are evaluated too.
    const bool extension = width % 4 == 0 && log2_height % 2 == 1;
    const uint32_t row_size = extension ? width / 4 : width;
    const bool has_value = (row_size & (row_size - 1)) == 0;
    uint32_t log2_width = 0;
    while (has_value && 1u << log2_width < row_size) ++log2_width;
    const std::vector<uint32_t> point = RandomWords(rng, size_t{4} * log2_width);
    const DeviceVector<uint32_t> device_positions(positions), device_count(std::vector<uint32_t>{count}),
        out((count + 2) * each), device_point(point), values(size_t{4} * (count + 2));
    const RowPoint at = {device_point.data(), log2_width, extension, has_value ? values.data() : nullptr};
    ASSERT_EQ(LaunchOpenings<4>(device_matrix, tree.data(), device_positions.data(), device_count.data(),
                                count + 2, out.data(), at, nullptr),
              cudaSuccess);
    const std::vector<uint32_t> openings = out.Download(), got_values = values.Download();
    for (size_t i = 0; i < count; ++i) {
      std::vector<BabyBear> words_expected = MatrixRow(matrix, positions[i]);
      for (const Digest& sibling : expected.Path(positions[i]))
        words_expected.insert(words_expected.end(), sibling.begin(), sibling.end());
      for (size_t j = 0; j < each; ++j)
        ASSERT_EQ(openings[i * each + j], words_expected[j].montgomery()) << i << " " << j;
      if (!has_value) continue;
      ASSERT_EQ(ExtAt<4>(got_values, i), RowValue(&openings[i * each], row_size, extension, point));
    }
  }
}

TEST_F(CudaWhirTest, NoncesAreTheSmallest) {
  SmallRng rng(4);
  for (uint32_t i = 0; i < 60; ++i) {
    NonceSearch search{.state = {}, .position = i % 8, .bits = 1 + i % 18, .end = kBabyBearP};
    if (i >= 50) search.end = 1u << (i % 10);  // often none
    DeviceSponge sponge{};
    for (size_t j = 0; j < 16; ++j) {
      search.state[j] = rng.NextBabyBear();
      sponge.state[j] = search.state[j].montgomery();
    }
    sponge.input_count = static_cast<uint32_t>(search.position);
    const DeviceVector<DeviceSponge> device(std::vector<DeviceSponge>{sponge});
    const DeviceVector<NonceResult> result(std::vector<NonceResult>(1));
    ASSERT_EQ(LaunchGrind(Constants(), device.data(), search.bits, search.end, result.data(), nullptr),
              cudaSuccess);
    EXPECT_EQ(~result.Download()[0].best, SearchNonce(Constants(), search).value_or(kNoDeviceNonce)) << i;
  }
}

// f and w of 2^log2_size elements, on both sides.
template <int kD>
class Vectors {
 public:
  Vectors(SmallRng& rng, uint32_t log2_size, bool extension)
      : size_(size_t{1} << log2_size),
        extension_(extension),
        f_(RandomWords(rng, (extension ? kD : 1) * size_)),
        w_(RandomWords(rng, kD * size_)),
        f_out_(kD * size_),
        device_f_(f_),
        device_w_(w_),
        device_f_out_(kD * size_) {}

  DeviceVectorView f() const { return {device_f_.data(), size_, extension_}; }
  DevicePlanes w() const { return {device_w_.data(), size_}; }
  DevicePlanes f_out() const {
    return extension_ ? DevicePlanes{device_f_.data(), size_} : DevicePlanes{device_f_out_.data(), size_};
  }
  Planes host_f() { return {f_.data(), size_}; }
  Planes host_w() { return {w_.data(), size_}; }
  Planes host_f_out() { return extension_ ? host_f() : Planes{f_out_.data(), size_}; }
  RoundValues<kD> HostSums() {
    return extension_ ? SumRoundExt<kD>(host_f(), host_w(), size_ / 2)
                      : SumRoundBase<kD>(f_.data(), host_w(), size_ / 2);
  }
  void HostFold(const BabyBearExt<kD>& r) {
    if (extension_) {
      FoldExtVector<kD>(host_f(), size_ / 2, r, host_f());
    } else {
      FoldBaseVector<kD>(f_.data(), size_ / 2, r, host_f_out());
    }
    FoldExtVector<kD>(host_w(), size_ / 2, r, host_w());
  }
  BabyBearExt<kD> HostEvaluate(const std::vector<BabyBearExt<kD>>& point) {
    return extension_ ? EvaluateExt<kD>(host_f(), point) : EvaluateBase<kD>(f_.data(), point);
  }
  // Whether the first `count` elements of the folded f, and those of w, agree.
  bool SameFolded(size_t count) const {
    const std::vector<uint32_t> f = extension_ ? device_f_.Download() : device_f_out_.Download();
    return SamePlanes(f, extension_ ? f_ : f_out_, count) && SameWeights(count);
  }
  bool SameWeights(size_t count) const { return SamePlanes(device_w_.Download(), w_, count); }

 private:
  bool SamePlanes(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, size_t count) const {
    for (size_t k = 0; k < kD; ++k) {
      for (size_t i = 0; i < count; ++i) {
        if (a[k * size_ + i] != b[k * size_ + i]) return false;
      }
    }
    return true;
  }

  const size_t size_;
  const bool extension_;
  std::vector<uint32_t> f_, w_, f_out_;
  const DeviceVector<uint32_t> device_f_, device_w_, device_f_out_;
};

template <int kD>
void ExpectSums(const RoundValues<kD>& expected, const DeviceVector<uint32_t>& partials, uint32_t count) {
  const std::vector<BabyBearExt<kD>> sums = ExtsOf<kD>(partials.Download());
  BabyBearExt<kD> h0{}, h2{};
  for (size_t i = 0; i < count; ++i) {
    h0 += sums[2 * i];
    h2 += sums[2 * i + 1];
  }
  EXPECT_EQ(h0, expected.h0);
  EXPECT_EQ(h2, expected.h2);
}

template <int kD>
void CheckRounds(uint32_t log2_size, bool extension) {
  SCOPED_TRACE(testing::Message() << kD << " " << log2_size << " " << extension);
  SmallRng rng(log2_size);
  Vectors<kD> vectors(rng, log2_size, extension);
  const size_t half = (size_t{1} << log2_size) / 2;
  const DeviceVector<uint32_t> partials(PartialSumWords(kD));
  uint32_t count = 0;
  ASSERT_EQ(
      LaunchRoundSums<kD>(Constants(), vectors.f(), vectors.w(), half, partials.data(), &count, {}, nullptr),
      cudaSuccess);
  ExpectSums<kD>(vectors.HostSums(), partials, count);

  const std::vector<uint32_t> r = RandomWords(rng, kD);
  const DeviceVector<uint32_t> challenge(r);
  const bool sums = half > 1 && log2_size % 2 == 0;
  if (sums) {
    ASSERT_EQ(LaunchFoldAndSum<kD>(Constants(), vectors.f(), vectors.f_out(), vectors.w(), half,
                                   challenge.data(), partials.data(), &count, {}, nullptr),
              cudaSuccess);
  } else {
    ASSERT_EQ(LaunchFold<kD>(vectors.f(), vectors.f_out(), vectors.w(), half, challenge.data(), nullptr),
              cudaSuccess);
  }
  vectors.HostFold(ExtAt<kD>(r, 0));
  EXPECT_TRUE(vectors.SameFolded(half));
  if (sums)
    ExpectSums<kD>(SumRoundExt<kD>(vectors.host_f_out(), vectors.host_w(), half / 2), partials, count);
}
TEST_F(CudaWhirTest, RoundsOfSumcheckAreThoseOfTheHost) {
  for (const uint32_t log2_size : {1, 2, 3, 4, 7, 10, 13, 20, 21}) {
    for (const bool extension : {false, true}) {
      CheckRounds<4>(log2_size, extension);
      CheckRounds<5>(log2_size, extension);
    }
  }
}

template <int kD>
void CheckEvaluations(uint32_t log2_size, bool extension) {
  SCOPED_TRACE(testing::Message() << kD << " " << log2_size << " " << extension);
  SmallRng rng(100 + log2_size);
  Vectors<kD> vectors(rng, log2_size, extension);
  const std::vector<uint32_t> point = RandomWords(rng, kD * log2_size);
  const DeviceVector<uint32_t> device_point(point), partials(PartialSumWords(kD)), value(kD), copy(kD),
      next_point(kD * log2_size), expected_copy(kD), expected_point(kD * log2_size),
      arrived(std::vector<uint32_t>{0});
  DeviceSponge sponge{};
  sponge.input_count = 6;  // the permutation comes amid the value
  const DeviceVector<DeviceSponge> device_sponge(std::vector<DeviceSponge>{sponge}),
      expected_sponge(std::vector<DeviceSponge>{sponge});
  const AnswerStep step = {device_point.data(), value.data(),    copy.data(),
                           next_point.data(),   partials.data(), arrived.data()};
  ASSERT_EQ(LaunchAnswer<kD>(Constants(), device_sponge.data(), vectors.f(), log2_size, step, nullptr),
            cudaSuccess);
  EXPECT_EQ(ExtAt<kD>(value.Download(), 0), vectors.HostEvaluate(ExtsOf<kD>(point)));
  EXPECT_EQ(copy.Download(), value.Download());
  EXPECT_EQ(arrived.Download()[0], 0u);
  ASSERT_EQ(LaunchObserve<kD>(Constants(), expected_sponge.data(), value.data(), kD, expected_copy.data(),
                              expected_point.data(), log2_size, nullptr),
            cudaSuccess);
  EXPECT_EQ(next_point.Download(), expected_point.Download());
}
TEST_F(CudaWhirTest, EvaluationsAreThoseOfTheHost) {
  for (const uint32_t log2_size : {0, 1, 2, 5, 7, 8, 9, 11, 15, 16, 17, 21}) {
    for (const bool extension : {false, true}) {
      CheckEvaluations<4>(log2_size, extension);
      CheckEvaluations<5>(log2_size, extension);
    }
  }
}

template <int kD>
void CheckWeights(uint32_t log2_size, uint32_t eqs, uint32_t powers, uint32_t used, bool overwrite) {
  SCOPED_TRACE(testing::Message() << kD << " " << log2_size << " " << eqs << " " << powers << " " << used);
  SmallRng rng(200 + log2_size);
  Vectors<kD> vectors(rng, log2_size, true);
  const std::vector<uint32_t> points = RandomWords(rng, size_t{eqs} * kD * log2_size);
  std::vector<uint32_t> coefficients = RandomWords(rng, (eqs + powers) * kD);
  std::fill(coefficients.begin() + (eqs + used) * kD, coefficients.end(), 0);
  std::vector<uint32_t> positions(powers);
  const BabyBear generator = BabyBearRootOfUnity(27);
  std::vector<EqTerm<kD>> eq_terms;
  std::vector<PowerTerm<kD>> power_terms;
  for (size_t t = 0; t < eqs; ++t) {
    const auto from = points.begin() + static_cast<ptrdiff_t>(t * kD * log2_size);
    eq_terms.push_back({ExtsOf<kD>({from, from + kD * log2_size}), ExtAt<kD>(coefficients, t)});
  }
  for (size_t t = 0; t < powers; ++t) {
    positions[t] = static_cast<uint32_t>(rng.NextU64() >> 37);
    if (t < used) power_terms.push_back({generator.Pow(positions[t]), ExtAt<kD>(coefficients, eqs + t)});
  }
  const DeviceVector<uint32_t> device_points(points), device_coefficients(coefficients),
      device_positions(positions), device_used(std::vector<uint32_t>{used}),
      tables(TermTableWords(kD, eqs, powers, log2_size));
  ASSERT_EQ(LaunchAddWeights<kD>({device_points.data(), device_coefficients.data(), eqs},
                                 {generator.montgomery(), device_positions.data(), device_used.data(),
                                  device_coefficients.data() + size_t{eqs} * kD, powers},
                                 log2_size, overwrite, tables.data(), vectors.w(), nullptr),
            cudaSuccess);
  AddWeights<kD>(eq_terms, power_terms, log2_size, overwrite, vectors.host_w());
  EXPECT_TRUE(vectors.SameWeights(size_t{1} << log2_size));
}
TEST_F(CudaWhirTest, WeightsAreThoseOfTheHost) {
  for (const uint32_t log2_size : {0, 1, 2, 3, 6, 9, 14, 19}) {
    CheckWeights<4>(log2_size, 3, 0, 0, true);
    CheckWeights<5>(log2_size, 0, 7, 5, false);
    CheckWeights<4>(log2_size, 2, 91, 90, false);
    CheckWeights<5>(log2_size, 17, 33, 33, true);
    CheckWeights<4>(log2_size, 0, 0, 0, true);
  }
}

}  // namespace
}  // namespace proofmill::kernels
