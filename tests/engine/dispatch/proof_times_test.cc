#include "engine/dispatch/proof_times.h"

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

using std::chrono::milliseconds;

TEST(ProofTimesTest, KnowsNothingUntilAProofWasMade) {
  const ProofTimes times;
  EXPECT_EQ(times.Of("a"), std::nullopt);
  EXPECT_EQ(times.Average(), std::nullopt);
}

TEST(ProofTimesTest, TheFirstProofIsTakenAsItIs) {
  ProofTimes times;
  times.Learn("a", milliseconds(800));

  EXPECT_EQ(times.Of("a"), milliseconds(800));
  EXPECT_EQ(times.Average(), milliseconds(800));
  EXPECT_EQ(times.Of("b"), std::nullopt) << "each circuit has its own";
}

TEST(ProofTimesTest, LaterProofsMoveItByAQuarter) {
  ProofTimes times;
  times.Learn("a", milliseconds(800));
  times.Learn("a", milliseconds(400));
  EXPECT_EQ(times.Of("a"), milliseconds(700));

  for (int i = 0; i < 100; ++i) times.Learn("a", milliseconds(100));
  EXPECT_NEAR(static_cast<double>(times.Of("a")->count()), 1e8, 1e6);
}

TEST(ProofTimesTest, AProofThatTookNoTimeIsStillKnown) {
  ProofTimes times;
  times.Learn("a", milliseconds(0));
  EXPECT_GT(times.Of("a")->count(), 0) << "zero means unknown to the queue";
}

}  // namespace
}  // namespace proofmill::engine
