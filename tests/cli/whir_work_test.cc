#include "cli/whir_work.h"

#include "cli/whir_cells.h"
#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

TEST(WhirWorkTest, CountsTheWorkOfAProofWithoutRounds) {
  // Eight variables, all but four folded at once: 32 rows of 16 words, two permutations each, and 31 nodes.
  engine::WhirParameters p = ArticleParameters({8, 4, 1});
  p.max_pow_bits = 0;
  p.security_level = 20;
  const auto config = engine::DeriveWhirConfig(p);
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_TRUE(config->rounds.empty());
  ASSERT_EQ(config->final_variables, 4u);
  ASSERT_EQ(config->log_height(0), 5u);
  const double nonces = config->ExpectedNonces();

  const WhirWork work = CountWhirWork(*config);

  EXPECT_EQ(work.permutations, nonces + 2 * 32 + 31);
  const double matrix = 2 * 4 * 32 * 16, tree = 63 * 32;
  const double vectors = (1 + config->ood_samples) * 4 * 256, weight = 16 * 256;
  // f is of base elements in the first round.
  const double first = 4 * 256 + 16 * 256 + 2 * 16 * 128;
  double rest = 0;
  for (const double size : {128, 64, 32, 16, 8, 4, 2}) rest += 2 * 16 * size + 2 * 16 * (size / 2);
  EXPECT_EQ(work.bytes, matrix + tree + vectors + weight + first + rest);
}

TEST(WhirWorkTest, TheFloorAddsHashingAndMemory) {
  const WhirWork work = {.permutations = 3e9, .bytes = 2 * kMemoryBytesPerSecond};
  EXPECT_DOUBLE_EQ(FloorSeconds(work, 1.5e9), 4);
}

}  // namespace
}  // namespace proofmill::cli
