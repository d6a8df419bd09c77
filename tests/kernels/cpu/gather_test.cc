#include "kernels/cpu/gather.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "tests/kernels/elements.h"
#include "tests/oracle/gather.h"

namespace proofmill::kernels {
namespace {

// A matrix in the form that GatherRows() takes, from terms sorted by row.
struct Matrix {
  Matrix(const std::vector<oracle::Term>& terms, size_t rows) : row_offsets(rows + 1) {
    for (const oracle::Term& term : terms) {
      ++row_offsets[term.row + 1];
      columns.push_back(term.column);
      // v * R^2 is what a .zkey stores: the Montgomery form of the Montgomery form.
      values.push_back(Fr::FromPlain(Fr::FromPlain(term.coefficient).montgomery()));
    }
    for (size_t i = 0; i < rows; ++i) row_offsets[i + 1] += row_offsets[i];
  }
  CsrView view() const { return {row_offsets.data(), columns.data(), values.data(), row_offsets.size() - 1}; }

  std::vector<uint64_t> row_offsets;
  std::vector<uint32_t> columns;
  std::vector<Fr> values;
};

class GatherTest : public testing::Test {
 protected:
  GatherTest() {
    witness_ = EdgeIntegers<FrParams>();
    while (witness_.size() < 300) witness_.push_back(RandomBelow<FrParams>(random_));
  }

  void AddTerms(size_t row, size_t count) {
    const std::vector<U256> edges = EdgeIntegers<FrParams>();
    for (size_t i = 0; i < count; ++i) {
      const U256 coefficient =
          random_() % 2 == 0 ? edges[random_() % edges.size()] : RandomBelow<FrParams>(random_);
      terms_.push_back({row, static_cast<uint32_t>(random_() % witness_.size()), coefficient});
    }
  }

  void ExpectOraclesRows(size_t rows) {
    const Matrix matrix(terms_, rows);
    const std::vector<U256> expected = oracle::Gather(terms_, witness_, rows, Fr::kModulus);
    for (const size_t threads : {1u, 2u, 7u}) {
      std::vector<Fr> out(rows, Fr::FromUint64(99));  // whatever was there is overwritten
      ThreadArena arena(threads);

      arena.Execute([&] { GatherRows(matrix.view(), witness_.data(), out.data()); });

      for (size_t i = 0; i < rows; ++i) {
        ASSERT_EQ(out[i].ToPlain(), expected[i]) << "row " << i << ", " << threads << " threads";
      }
    }
  }

  Random random_{11};
  std::vector<U256> witness_;
  std::vector<oracle::Term> terms_;
};

TEST_F(GatherTest, ShortRaggedRowsHalfOfThemEmpty) {
  for (size_t row = 0; row < 3000; ++row) AddTerms(row, row % 2 == 0 ? 0 : random_() % 8);
  ExpectOraclesRows(3000);
}

TEST_F(GatherTest, RowsSoLongThatThreadsShareThem) {
  AddTerms(0, 3);
  AddTerms(2, 20000);
  AddTerms(3, 9000);
  AddTerms(6, 1);
  ExpectOraclesRows(8);
}

TEST_F(GatherTest, LongRunsOfEmptyRows) {
  AddTerms(0, 1);
  AddTerms(19999, 2);
  ExpectOraclesRows(20000);
}

TEST_F(GatherTest, NoTermsAtAll) { ExpectOraclesRows(10); }

TEST_F(GatherTest, NoRows) {
  const uint64_t offset = 0;
  GatherRows({&offset, nullptr, nullptr, 0}, witness_.data(), nullptr);
}

TEST_F(GatherTest, ARepeatedColumnAddsUp) {
  const U256 two{{2, 0, 0, 0}}, three{{3, 0, 0, 0}};
  witness_ = {U256{{7, 0, 0, 0}}};
  terms_ = {{0, 0, two}, {0, 0, three}};
  const Matrix matrix(terms_, 1);
  Fr out;

  GatherRows(matrix.view(), witness_.data(), &out);

  EXPECT_EQ(out, Fr::FromUint64((2 + 3) * 7));
}

}  // namespace
}  // namespace proofmill::kernels
