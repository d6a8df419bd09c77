// The vector kernels over BabyBear, under every arithmetic that the CPU has, against known answers and naive
// loops.

#include <algorithm>
#include <bit>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/babybear_kernels.h"
#include "kernels/cpu/babybear_ntt.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/poseidon2_hash.h"
#include "kernels/cpu/sumcheck.h"
#include "kernels/field/small_rng.h"
#include "tests/kernels/whir_vectors.h"

namespace proofmill::kernels {
namespace {

const Poseidon2Constants<16>& Benchmark() { return Poseidon2Width16(Poseidon2Set::kSmallRngSeed1); }

size_t ReverseBits(size_t x, uint32_t bits) {
  size_t out = 0;
  for (uint32_t i = 0; i < bits; ++i) out |= (x >> i & 1) << (bits - 1 - i);
  return out;
}

std::vector<uint32_t> RandomWords(uint64_t seed, size_t n) {
  SmallRng rng(seed);
  std::vector<uint32_t> out(n);
  for (uint32_t& word : out) word = rng.NextBabyBear().montgomery();
  return out;
}
BabyBear Element(uint32_t word) { return BabyBear::FromMontgomery(word); }

// The rows of a matrix in natural order, stored as the kernels have it.
class StoredMatrix {
 public:
  StoredMatrix(const std::vector<BabyBear>& rows, size_t width)
      : words_(rows.size()), matrix_{words_.data(), width, Log2(rows.size() / width)} {
    for (size_t row = 0; row < rows.size() / width; ++row) {
      const size_t place = ReverseBits(row, matrix_.log2_height);
      for (size_t i = 0; i < width; ++i) {
        words_[(i << matrix_.log2_height) + place] = rows[row * width + i].montgomery();
      }
    }
  }
  const ColumnMatrix& matrix() const { return matrix_; }

 private:
  static uint32_t Log2(size_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }
  std::vector<uint32_t> words_;
  ColumnMatrix matrix_;
};

Digest ToDigest(const nlohmann::json& list) {
  Digest out;
  const std::vector<BabyBear> elements = ToElements(list);
  EXPECT_EQ(elements.size(), out.size());
  std::copy(elements.begin(), elements.end(), out.begin());
  return out;
}

TEST(BabyBearKernelsTest, PermuteOneStateALaneAsTheScalarCode) {
  const BabyBearKernels& kernels = CurrentBabyBearKernels();
  std::vector<uint32_t> states = RandomWords(1, 16 * kernels.lanes);
  // Edges: zero and p - 1 in every word of a lane.
  for (size_t i = 0; i < 16; ++i) states[i * kernels.lanes] = kernels.lanes == 1 ? kBabyBearP - 1 : 0;
  if (kernels.lanes > 1) {
    for (size_t i = 0; i < 16; ++i) states[i * kernels.lanes + 1] = kBabyBearP - 1;
  }
  std::vector<uint32_t> got = states;
  for (const Poseidon2Set set : {Poseidon2Set::kGrainLfsr, Poseidon2Set::kSmallRngSeed1}) {
    got = states;
    kernels.permute(ToWords(Poseidon2Width16(set)), got.data(), 2);
    for (size_t lane = 0; lane < kernels.lanes; ++lane) {
      BabyBear expected[16];
      for (size_t i = 0; i < 16; ++i) expected[i] = Element(states[i * kernels.lanes + lane]);
      Poseidon2Permute(Poseidon2Width16(set), expected);
      Poseidon2Permute(Poseidon2Width16(set), expected);
      for (size_t i = 0; i < 16; ++i) ASSERT_EQ(Element(got[i * kernels.lanes + lane]), expected[i]);
    }
  }
}

TEST(Poseidon2HashTest, HashesAsTheVectors) {
  const auto file = ReadWhirVector("poseidon2.json");
  for (const auto& entry : file.at("sponge16_rate8_out8")) {
    const std::vector<BabyBear> in = ToElements(entry.at("in"));
    EXPECT_EQ(HashWords(Benchmark(), in.data(), in.size()), ToDigest(entry.at("out")));
  }
  for (const auto& entry : file.at("compress")) {
    EXPECT_EQ(HashNode(Benchmark(), ToDigest(entry.at("left")), ToDigest(entry.at("right"))),
              ToDigest(entry.at("out")));
  }
}

void ExpectPath(const MerkleTree& tree, size_t row, const nlohmann::json& path) {
  const std::vector<Digest> got = tree.Path(row);
  ASSERT_EQ(got.size(), path.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], ToDigest(path[i]));
}

TEST(MerkleTreeTest, HasRootLeavesAndOpeningsOfTheVectors) {
  const auto file = ReadWhirVector("merkle.json");
  for (const auto& entry : file.at("base")) {
    const std::vector<BabyBear> rows = ToElements(entry.at("values"));
    const StoredMatrix stored(rows, entry.at("width").get<size_t>());
    std::vector<Digest> digests(MerkleTree::DigestCount(stored.matrix().log2_height));
    const MerkleTree tree(Benchmark(), stored.matrix(), digests.data());
    EXPECT_EQ(tree.root(), ToDigest(entry.at("root")));
    for (size_t i = 0; i < entry.at("height").get<size_t>(); ++i) {
      EXPECT_EQ(tree.leaf(i), ToDigest(entry.at("leaf_digests")[i]));
      const auto& opening = entry.at("openings")[i];
      const size_t row = opening.value("index", i);
      ExpectPath(tree, row, opening.at("path"));
      EXPECT_EQ(MatrixRow(stored.matrix(), row), ToElements(opening.at("row")));
    }
  }
  for (const auto& entry : file.at("ext4")) {
    const StoredMatrix stored(ToElements(entry.at("values")), 4 * entry.at("width").get<size_t>());
    std::vector<Digest> digests(MerkleTree::DigestCount(stored.matrix().log2_height));
    const MerkleTree tree(Benchmark(), stored.matrix(), digests.data());
    const auto row = entry.at("opening_index").get<size_t>();
    EXPECT_EQ(tree.root(), ToDigest(entry.at("root")));
    EXPECT_EQ(MatrixRow(stored.matrix(), row), ToElements(entry.at("row")));
    ExpectPath(tree, row, entry.at("path"));
  }
}

TEST(MerkleTreeTest, HashesAnyShapeAsTheScalarCode) {
  for (const size_t width : {1u, 7u, 8u, 9u, 24u}) {
    for (const uint32_t log2_height : {0u, 1u, 3u, 4u, 5u, 9u}) {
      std::vector<BabyBear> rows;
      for (const uint32_t word : RandomWords(width, width << log2_height)) rows.push_back(Element(word));
      const StoredMatrix stored(rows, width);
      std::vector<Digest> digests(MerkleTree::DigestCount(log2_height));
      const MerkleTree tree(Benchmark(), stored.matrix(), digests.data());

      std::vector<Digest> layer;
      for (size_t i = 0; i < size_t{1} << log2_height; ++i) {
        layer.push_back(HashWords(Benchmark(), rows.data() + i * width, width));
        ASSERT_EQ(tree.leaf(i), layer[i]);
      }
      while (layer.size() > 1) {
        for (size_t i = 0; i < layer.size() / 2; ++i)
          layer[i] = HashNode(Benchmark(), layer[2 * i], layer[2 * i + 1]);
        layer.resize(layer.size() / 2);
      }
      ASSERT_EQ(tree.root(), layer[0]);
    }
  }
}

// Rows of a matrix of this width, and all that opens them.
struct OpenedTree {
  OpenedTree(size_t row_words, uint32_t log2_height) : width(row_words), height(log2_height) {
    words.reserve(width << height);
    for (const uint32_t word : RandomWords(width, width << height)) words.push_back(Element(word));
    const StoredMatrix stored(words, width);
    std::vector<Digest> digests(MerkleTree::DigestCount(height));
    const MerkleTree tree(Benchmark(), stored.matrix(), digests.data());
    root = tree.root();
    for (uint32_t i = 0; i < 1u << height; ++i) paths.push_back(tree.Path(i));
  }
  std::vector<OpenedRow> Open(size_t count) const {
    std::vector<OpenedRow> rows;
    rows.reserve(count);
    for (uint32_t i = 0; i < count; ++i) rows.push_back({&words[i * width], paths[i].data(), i});
    return rows;
  }
  bool Check(const std::vector<OpenedRow>& rows) const {
    return AllLeadTo(root, Benchmark(), rows, width, height);
  }

  size_t width;
  uint32_t height;
  std::vector<BabyBear> words;
  std::vector<std::vector<Digest>> paths;
  Digest root;
};

TEST(AllLeadToTest, AcceptsAnyNumberOfRowsOfAnyWidth) {
  for (const size_t width : {1u, 7u, 8u, 9u, 24u}) {
    for (const uint32_t height : {0u, 1u, 6u}) {
      const OpenedTree tree(width, height);
      for (size_t count = 0; count <= std::min<size_t>(1u << height, 35); ++count)
        EXPECT_TRUE(tree.Check(tree.Open(count))) << count << " rows of " << width << " under " << height;
    }
  }
}

TEST(AllLeadToTest, RejectsOneWrongRowWhereverItIs) {
  const OpenedTree tree(9, 6);
  const std::vector<OpenedRow> rows = tree.Open(35);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<OpenedRow> altered = rows;
    altered[i].position ^= 1u << i % 6;
    EXPECT_FALSE(tree.Check(altered)) << "position " << i;

    altered = rows;
    std::vector<BabyBear> words(rows[i].words, rows[i].words + 9);
    words[i % 9] += BabyBear::One();
    altered[i].words = words.data();
    EXPECT_FALSE(tree.Check(altered)) << "row " << i;

    altered = rows;
    std::vector<Digest> path = tree.paths[i];
    path[i % 6][i % 8] += BabyBear::One();
    altered[i].path = path.data();
    EXPECT_FALSE(tree.Check(altered)) << "path " << i;
  }
}

TEST(AllLeadToTest, RejectsARootThatDiffersInAnyWord) {
  OpenedTree tree(3, 2);
  for (BabyBear& word : tree.root) {
    word += BabyBear::One();
    EXPECT_FALSE(tree.Check(tree.Open(4)));
    word -= BabyBear::One();
  }
  EXPECT_TRUE(tree.Check(tree.Open(4)));
}

TEST(SearchNonceTest, FindsTheSmallestOnAnyNumberOfThreads) {
  NonceSearch search{.state = {}, .position = 3, .bits = 0};
  for (size_t i = 0; i < 3; ++i) search.state[i] = Element(RandomWords(i, 1)[0]);
  const auto passes = [&](uint32_t nonce) {
    std::array<BabyBear, 16> state = search.state;
    state[search.position] = BabyBear::FromCanonical(nonce);
    Poseidon2Permute(Benchmark(), state.data());
    return (state[7].ToCanonical() & ((1u << search.bits) - 1)) == 0;
  };
  for (search.bits = 1; search.bits <= 11; ++search.bits) {
    uint32_t expected = 0;
    while (!passes(expected)) ++expected;
    for (const size_t threads : {1u, 3u}) {
      ThreadArena arena(threads);
      uint64_t tried = 0;
      arena.Execute([&] { EXPECT_EQ(SearchNonce(Benchmark(), search, &tried), expected); });
      EXPECT_EQ(tried, uint64_t{expected} + 1);
    }
    NonceSearch too_short = search;
    too_short.end = expected;
    EXPECT_EQ(SearchNonce(Benchmark(), too_short), std::nullopt) << search.bits;
    too_short.end = expected + 1;
    EXPECT_EQ(SearchNonce(Benchmark(), too_short), expected);
  }
}

TEST(BabyBearNttTest, TransformsAsTheVectors) {
  const auto file = ReadWhirVector("dft.json");
  const BabyBearNtt ntt(10);
  for (const char* const kind : {"base", "ext4"}) {
    for (const auto& entry : file.at(kind)) {
      const size_t planes = kind[0] == 'b' ? 1 : 4, height = entry.at("height").get<size_t>();
      const size_t columns = entry.at("width").get<size_t>();
      const auto log2_height = static_cast<uint32_t>(std::countr_zero(height));
      const std::vector<BabyBear> in = ToElements(entry.at("in")), out = ToElements(entry.at("out"));
      // One column at a time, since the number of columns need not be a power of two.
      for (size_t column = 0; column < columns; ++column) {
        std::vector<uint32_t> words(planes * height), got(planes * height);
        const auto at = [&](size_t row, size_t plane) { return (row * columns + column) * planes + plane; };
        for (size_t row = 0; row < height; ++row) {
          for (size_t plane = 0; plane < planes; ++plane)
            words[plane * height + row] = in[at(row, plane)].montgomery();
        }
        ntt.Encode({words.data(), height, planes, log2_height}, 0, log2_height, got.data());
        for (size_t row = 0; row < height; ++row) {
          for (size_t plane = 0; plane < planes; ++plane) {
            ASSERT_EQ(Element(got[plane * height + ReverseBits(row, log2_height)]), out[at(row, plane)]);
          }
        }
      }
    }
  }
}

// Values at a few points by Horner's rule, for sizes on every path of the transform.
void CheckEncoding(const BabyBearNtt& ntt, size_t planes, uint32_t log2_length, uint32_t log2_columns,
                   uint32_t log2_height) {
  const size_t length = size_t{1} << log2_length, size = length >> log2_columns,
               height = size_t{1} << log2_height;
  const std::vector<uint32_t> words = RandomWords(log2_height, planes * length);
  std::vector<uint32_t> got((planes << log2_columns) * height);
  ntt.Encode({words.data(), length, planes, log2_length}, log2_columns, log2_height, got.data());
  for (size_t row = 0; row < height; row += 1 + height / 5) {
    const BabyBear x = BabyBearRootOfUnity(log2_height).Pow(row);
    for (size_t column = 0; column < size_t{1} << log2_columns; ++column) {
      for (size_t plane = 0; plane < planes; ++plane) {
        BabyBear value;
        for (size_t t = size; t-- > 0;)
          value = value * x + Element(words[plane * length + column * size + t]);
        const size_t place = (column * planes + plane) * height + ReverseBits(row, log2_height);
        ASSERT_EQ(Element(got[place]), value) << log2_length << " " << log2_columns << " " << log2_height;
      }
    }
  }
}

TEST(BabyBearNttTest, EncodesAnyShape) {
  const BabyBearNtt ntt(17);
  for (const uint32_t log2_height : {0u, 1u, 5u, 6u, 7u, 8u, 9u, 10u, 12u}) {
    for (uint32_t padding = 0; padding <= std::min(log2_height, 3u); ++padding) {
      CheckEncoding(ntt, 1, log2_height - padding + 2, 2, log2_height);
      CheckEncoding(ntt, 5, log2_height - padding, 0, log2_height);
    }
  }
  CheckEncoding(ntt, 1, 16, 0, 17);  // few large blocks: on several threads
}

template <int kD>
using Ext = BabyBearExt<kD>;

// An extension vector as planes, and as elements.
template <int kD>
struct ExtVector {
  std::vector<uint32_t> words;
  size_t size;

  ExtVector(uint64_t seed, size_t n) : words(RandomWords(seed, kD * n)), size(n) {}
  Planes planes() { return {words.data(), size}; }
  Ext<kD> at(size_t i) const {
    Ext<kD> out{};
    for (size_t k = 0; k < kD; ++k) out.c[k] = Element(words[k * size + i]);
    return out;
  }
};

template <int kD>
Ext<kD> Power(const Ext<kD>& x, size_t n) {
  Ext<kD> out = Ext<kD>::One();
  for (size_t i = 0; i < n; ++i) out *= x;
  return out;
}

template <int kD>
Ext<kD> NaiveEq(const std::vector<Ext<kD>>& point, size_t index) {
  Ext<kD> out = Ext<kD>::One();
  for (size_t i = 0; i < point.size(); ++i) {
    const bool one = (index >> (point.size() - 1 - i) & 1) != 0;
    out *= one ? point[i] : Ext<kD>::One() - point[i];
  }
  return out;
}

template <int kD>
void CheckSums(uint32_t log2_size) {
  const size_t size = size_t{1} << log2_size, half = size / 2;
  SmallRng rng(log2_size);
  const std::vector<uint32_t> base = RandomWords(11, size);
  ExtVector<kD> f(12, size), w(13, size);
  std::vector<Ext<kD>> point(log2_size);
  for (Ext<kD>& coordinate : point) coordinate = rng.NextExt<kD>();

  Ext<kD> base_value{}, ext_value{};
  for (size_t b = 0; b < size; ++b) {
    base_value += NaiveEq(point, b) * Element(base[b]);
    ext_value += NaiveEq(point, b) * f.at(b);
  }
  EXPECT_EQ(EvaluateBase<kD>(base.data(), point), base_value);
  EXPECT_EQ(EvaluateExt<kD>(f.planes(), point), ext_value);

  const std::vector<EqTerm<kD>> eqs = {{point, rng.NextExt<kD>()}};
  std::vector<PowerTerm<kD>> powers;
  powers.reserve(6);
  for (int i = 0; i < 6; ++i) powers.push_back({rng.NextBabyBear(), rng.NextExt<kD>()});
  ExtVector<kD> sum = w;
  AddWeights<kD>(eqs, powers, log2_size, false, sum.planes());
  AddWeights<kD>({}, powers, log2_size, false, sum.planes());
  ExtVector<kD> fresh = w;
  AddWeights<kD>(eqs, {}, log2_size, true, fresh.planes());
  for (size_t b = 0; b < size; ++b) {
    const Ext<kD> eq = eqs[0].coefficient * NaiveEq(point, b);
    Ext<kD> terms{};
    for (const auto& term : powers) terms += term.coefficient * term.x.Pow(b);
    ASSERT_EQ(sum.at(b), w.at(b) + eq + terms + terms);
    ASSERT_EQ(fresh.at(b), eq);
  }

  if (log2_size == 0) return;
  RoundValues<kD> of_base{}, of_ext{};
  for (size_t i = 0; i < half; ++i) {
    const Ext<kD> w2 = w.at(i + half) + w.at(i + half) - w.at(i);
    const BabyBear lo = Element(base[i]), hi = Element(base[i + half]);
    of_base.h0 += w.at(i) * lo;
    of_base.h2 += w2 * (hi + hi - lo);
    of_ext.h0 += w.at(i) * f.at(i);
    of_ext.h2 += w2 * (f.at(i + half) + f.at(i + half) - f.at(i));
  }
  const auto got_base = SumRoundBase<kD>(base.data(), w.planes(), half);
  const auto got_ext = SumRoundExt<kD>(f.planes(), w.planes(), half);
  EXPECT_TRUE(got_base.h0 == of_base.h0 && got_base.h2 == of_base.h2);
  EXPECT_TRUE(got_ext.h0 == of_ext.h0 && got_ext.h2 == of_ext.h2);

  const Ext<kD> r = rng.NextExt<kD>();
  const ExtVector<kD> before = f;
  FoldExtVector<kD>(f.planes(), half, r, f.planes());
  FoldBaseVector<kD>(base.data(), half, r, w.planes());
  for (size_t i = 0; i < half; ++i) {
    ASSERT_EQ(f.at(i), before.at(i) + r * (before.at(i + half) - before.at(i)));
    const BabyBear lo = Element(base[i]), hi = Element(base[i + half]);
    ASSERT_EQ(w.at(i), Ext<kD>::FromBase(lo) + r * (hi - lo));
  }
}

TEST(SumcheckTest, SumsFoldsAndWeightsAreThoseOfNaiveLoops) {
  for (const uint32_t log2_size : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 11u}) {
    CheckSums<4>(log2_size);
    CheckSums<5>(log2_size);
  }
}

TEST(SumcheckTest, WithoutTermsTheWeightIsZero) {
  ExtVector<4> w(5, 8);
  const ExtVector<4> before = w;

  AddWeights<4>({}, {}, 3, false, w.planes());
  EXPECT_EQ(w.words, before.words);
  AddWeights<4>({}, {}, 3, true, w.planes());
  EXPECT_EQ(w.words, std::vector<uint32_t>(32, 0));
}

}  // namespace
}  // namespace proofmill::kernels
