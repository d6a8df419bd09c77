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
  times.Learn("a", "cpu", milliseconds(800));

  EXPECT_EQ(times.Of("a"), milliseconds(800));
  EXPECT_EQ(times.Average(), milliseconds(800));
  EXPECT_EQ(times.Of("b"), std::nullopt) << "each circuit has its own";
}

TEST(ProofTimesTest, LaterProofsMoveItByAQuarter) {
  ProofTimes times;
  times.Learn("a", "cpu", milliseconds(800));
  times.Learn("a", "cpu", milliseconds(400));
  EXPECT_EQ(times.Of("a"), milliseconds(700));

  for (int i = 0; i < 100; ++i) times.Learn("a", "cpu", milliseconds(100));
  EXPECT_NEAR(static_cast<double>(times.Of("a")->count()), 1e8, 1e6);
}

TEST(ProofTimesTest, AProofThatTookNoTimeIsStillKnown) {
  ProofTimes times;
  times.Learn("a", "cpu", milliseconds(0));
  EXPECT_GT(times.Of("a")->count(), 0) << "zero means unknown to the queue";
}

TEST(ProofTimesTest, EachDeviceHasItsOwnAndACircuitTheirMean) {
  ProofTimes times;
  times.Learn("a", "cuda:0", milliseconds(100));
  times.Learn("a", "cpu", milliseconds(900));
  times.Learn("b", "cpu", milliseconds(700));

  EXPECT_EQ(times.On("a", "cuda:0"), milliseconds(100));
  EXPECT_EQ(times.On("a", "cpu"), milliseconds(900));
  EXPECT_EQ(times.On("b", "cuda:0"), std::nullopt);
  EXPECT_EQ(times.Of("a"), milliseconds(500));
  times.Forget("a");
  EXPECT_EQ(times.Of("a"), std::nullopt);
  EXPECT_EQ(times.Of("b"), milliseconds(700));
}

}  // namespace
}  // namespace proofmill::engine
