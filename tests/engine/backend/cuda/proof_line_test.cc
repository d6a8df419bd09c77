#include "engine/backend/cuda/proof_line.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

using Member = ProofLine::Member;

struct Proof final : Member {
  std::atomic<int> made{0};
};

void Make(const std::vector<Member*>& members) {
  for (Member* member : members) ++static_cast<Proof*>(member)->made;
}

TEST(ProofLineTest, WhoFindsNobodyLeadsAtOnceAndAlone) {
  ProofLine line;
  Proof first, second;
  std::optional<ProofLine::Lead> lead = line.Join(first);
  ASSERT_TRUE(lead.has_value());
  EXPECT_EQ(lead->Take(16), std::vector<Member*>{&first});
  std::optional<ProofLine::Lead> beside = line.Join(second);
  ASSERT_TRUE(beside.has_value());
  EXPECT_EQ(beside->Take(16), std::vector<Member*>{&second});
}

TEST(ProofLineTest, WhoGivesUpBeforeItTakesAnybodyLeavesTheLineInOrder) {
  ProofLine line;
  for (int i = 0; i < 5; ++i) {
    Proof proof;
    EXPECT_TRUE(line.Join(proof).has_value());
  }
  Proof last;
  std::optional<ProofLine::Lead> lead = line.Join(last);
  ASSERT_TRUE(lead.has_value());
  EXPECT_EQ(lead->Take(16), std::vector<Member*>{&last});
}

// Every member is made once, by itself or by the one leader that took it; never more leaders than may be.
TEST(ProofLineTest, UnderLoadEachIsMadeOnceInBatchesOfPowersOfTwo) {
  constexpr uint32_t kMost = 8;
  constexpr int kThreads = 24;
  constexpr int kProofs = 60;
  ProofLine line;
  std::atomic<int> leaders{0};
  std::atomic<int> batches{0};
  std::atomic<int> in_batches{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kProofs; ++i) {
        Proof proof;
        if (std::optional<ProofLine::Lead> lead = line.Join(proof)) {
          if ((t + i) % 7 == 0) continue;  // gives up
          const std::vector<Member*>& members = lead->Take(kMost);
          EXPECT_LE(leaders.fetch_add(1) + 1, static_cast<int>(kLeadersMax));
          EXPECT_EQ(members.front(), &proof);
          EXPECT_LE(members.size(), kMost);
          EXPECT_EQ(members.size() & (members.size() - 1), 0U);
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          Make(members);
          if (members.size() > 1) {
            ++batches;
            in_batches += static_cast<int>(members.size());
          }
          --leaders;
        }
        EXPECT_EQ(proof.made, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(batches, 0);
  EXPECT_GE(in_batches, 2 * batches);
}

}  // namespace
}  // namespace proofmill::engine
