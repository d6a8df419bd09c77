#include "engine/groth16/setup_stages.h"

#include <array>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

constexpr auto kNothing = [](auto...) {};

TEST(RunInTwoStagesTest, TakesEveryBlockOnceInOrderFromThePlaceWhereItWasMade) {
  for (const size_t threads : {1u, 2u, 4u}) {
    for (const size_t blocks : {0u, 1u, 2u, 3u, 50u}) {
      kernels::ThreadArena arena(threads);
      std::array<size_t, 2> slots = {~size_t{0}, ~size_t{0}};
      std::vector<size_t> taken, begun;
      const std::thread::id caller = std::this_thread::get_id();
      absl::Status status;

      arena.Execute([&] {
        status = RunInTwoStages(
            blocks,
            [&](size_t k) {
              EXPECT_EQ(std::this_thread::get_id(), caller);
              begun.push_back(k);
            },
            [&](size_t k) {
              slots[k % 2] = k;
              return absl::OkStatus();
            },
            [&](size_t k) {
              taken.push_back(slots[k % 2]);
              return absl::OkStatus();
            });
      });

      EXPECT_OK(status);
      std::vector<size_t> expected(blocks);
      for (size_t k = 0; k < blocks; ++k) expected[k] = k;
      EXPECT_EQ(taken, expected);
      EXPECT_EQ(begun, expected);
    }
  }
}

TEST(RunInTwoStagesTest, TheFirstErrorOfEitherStageEndsTheLoop) {
  for (size_t bad = 0; bad < 5; ++bad) {
    size_t made = 0, taken = 0;
    const auto make = [&](size_t k) {
      ++made;
      return k == bad ? absl::InternalError("made badly") : absl::OkStatus();
    };
    const auto take = [&](size_t k) {
      ++taken;
      return k == bad ? absl::InternalError("taken badly") : absl::OkStatus();
    };
    const auto fine = [](size_t) { return absl::OkStatus(); };

    ExpectError(RunInTwoStages(5, kNothing, make, fine), absl::StatusCode::kInternal, "made badly");
    EXPECT_EQ(made, bad + 1);
    ExpectError(RunInTwoStages(5, kNothing, fine, take), absl::StatusCode::kInternal, "taken badly");
    EXPECT_EQ(taken, bad + 1);
  }
}

// Row i of `n` says only its number.
class NumberedRows final : public ConstraintSystem {
 public:
  explicit NumberedRows(uint32_t n) : n_(n) {}
  uint32_t n_wires() const override { return n_ + 1; }
  uint32_t n_public() const override { return 0; }
  uint32_t n_constraints() const override { return n_; }
  void Row(uint32_t i, ConstraintRow& row) const override {
    row.Clear();
    row.a.push_back({i, kernels::Fr::One()});
  }

 private:
  const uint32_t n_;
};
struct Numbers {
  std::vector<uint32_t> all;
  void Clear() { all.clear(); }
};

TEST(ForRowsTest, RowsComeOnceAndInOrderWhateverTheBlocks) {
  for (const uint32_t n : {0u, 1u, 2047u, 2048u, 2049u, 10'000u}) {
    for (const size_t block_rows : {1u, 3u, 2048u, 3000u, 100'000u}) {
      if (n / block_rows > 3000) continue;
      std::vector<uint32_t> rows;
      size_t begun = 0;
      const auto begin = [&](size_t block, size_t blocks) {
        EXPECT_EQ(block, begun++);
        EXPECT_LT(block, blocks);
      };
      const auto add = [](uint32_t i, const ConstraintRow& row, Numbers& part) {
        EXPECT_EQ(row.a[0].wire, i);
        part.all.push_back(i);
      };
      const auto take = [&](absl::Span<const Numbers> parts) {
        for (const Numbers& part : parts) rows.insert(rows.end(), part.all.begin(), part.all.end());
        return absl::OkStatus();
      };

      EXPECT_OK(ForRows<Numbers>(NumberedRows(n), block_rows, begin, add, take));

      ASSERT_EQ(rows.size(), n) << block_rows;
      for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(rows[i], i) << block_rows;
    }
  }
}

}  // namespace
}  // namespace proofmill::engine
