#include "engine/backend/key_residency.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The memory of a device that is not there: keys take bytes of it and give them back.
struct FakeDevice {
  std::atomic<size_t> used{0};
  size_t most_used = 0;
  size_t capacity = SIZE_MAX;  // less than the limit: something else has the rest
};

// Needs `bytes_min`, and can use `bytes_wanted`.
class FakeKey final : public EvictableKey {
 public:
  FakeKey(FakeDevice& device, size_t bytes_min, size_t bytes_wanted)
      : device_(device), bytes_min_(bytes_min), bytes_wanted_(bytes_wanted) {}

  size_t bytes_min() const override { return bytes_min_; }
  absl::StatusOr<size_t> Load(size_t bytes_max) override {
    EXPECT_FALSE(resident());
    EXPECT_GE(bytes_max, bytes_min_);
    if (!next_load.ok()) return std::exchange(next_load, absl::OkStatus());
    bytes_ = std::min(bytes_max, bytes_wanted_);
    if (device_.used + bytes_ > device_.capacity) {
      bytes_ = 0;
      return absl::ResourceExhaustedError("no memory");
    }
    device_.used += bytes_;
    device_.most_used = std::max<size_t>(device_.most_used, device_.used);
    return bytes_.load();
  }
  void Unload() override {
    EXPECT_TRUE(resident());
    EXPECT_EQ(users, 0) << "evicted in the middle of a proof";
    device_.used -= bytes_;
    bytes_ = 0;
  }

  bool resident() const { return bytes_ != 0; }
  size_t bytes() const { return bytes_; }

  absl::Status next_load;
  std::atomic<int> users{0};

 private:
  FakeDevice& device_;
  const size_t bytes_min_;
  const size_t bytes_wanted_;
  std::atomic<size_t> bytes_{0};
};

absl::Status NoProofMemory() { return absl::OkStatus(); }

class KeyResidencyTest : public testing::Test {
 protected:
  void SetLimit(size_t bytes) {
    residency_ = std::make_unique<KeyResidency>(KeyResidency::Options{
        .device = "fake:0", .bytes_max = bytes, .listener = [this](const KeyResidency::Event& event) {
          const char* kinds[] = {"loaded", "evicted", "reloaded"};
          events_.push_back(std::string(kinds[static_cast<int>(event.kind)]) + " " +
                            std::to_string(event.bytes));
        }});
  }
  // A proof that begins and ends.
  absl::Status Prove(FakeKey& key) {
    const auto use = residency_->UseKey(key);
    if (!use.ok()) return use.status();
    EXPECT_TRUE(key.resident());
    return absl::OkStatus();
  }

  FakeDevice device_;
  std::vector<std::string> events_;
  std::unique_ptr<KeyResidency> residency_;
};

TEST_F(KeyResidencyTest, WithRoomEveryKeyTakesWhatItWantsAndStays) {
  SetLimit(100);
  FakeKey a(device_, 10, 40), b(device_, 10, 40);
  ASSERT_OK(residency_->Add(a, 20, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 20, NoProofMemory));

  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(Prove(a));
    ASSERT_OK(Prove(b));
  }

  EXPECT_EQ(a.bytes(), 40U);
  EXPECT_EQ(b.bytes(), 40U);
  EXPECT_EQ(residency_->stats().evictions, 0U);
  EXPECT_THAT(events_, ElementsAre("loaded 40", "loaded 40"));
}

TEST_F(KeyResidencyTest, TheLastKeyMakesDoWithWhatIsLeft) {
  SetLimit(100);
  FakeKey a(device_, 10, 70), b(device_, 10, 70);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));

  EXPECT_EQ(a.bytes(), 70U);
  EXPECT_EQ(b.bytes(), 30U);
}

TEST_F(KeyResidencyTest, TheLeastRecentlyUsedKeyGivesWay) {
  SetLimit(100);
  FakeKey a(device_, 40, 40), b(device_, 40, 40), c(device_, 40, 40);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));
  ASSERT_OK(Prove(a));
  ASSERT_OK(residency_->Add(c, 0, NoProofMemory));

  EXPECT_TRUE(a.resident());
  EXPECT_FALSE(b.resident());
  ASSERT_OK(Prove(b));
  EXPECT_FALSE(a.resident());
  EXPECT_TRUE(b.resident());
  EXPECT_TRUE(c.resident());
  EXPECT_EQ(residency_->stats().evictions, 2U);
  EXPECT_EQ(residency_->stats().reloads, 1U);
  EXPECT_THAT(events_,
              ElementsAre("loaded 40", "loaded 40", "evicted 40", "loaded 40", "evicted 40", "reloaded 40"));
}

TEST_F(KeyResidencyTest, KeysThatFitTogetherInASmallerFormEndUpTogether) {
  SetLimit(100);
  FakeKey a(device_, 20, 90), b(device_, 20, 90);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));  // a leaves; b may have half
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(Prove(a));
    ASSERT_OK(Prove(b));
  }

  EXPECT_EQ(a.bytes(), 50U);
  EXPECT_EQ(b.bytes(), 50U);
  EXPECT_EQ(residency_->stats().evictions, 1U);
  EXPECT_EQ(residency_->stats().reloads, 1U);
}

TEST_F(KeyResidencyTest, AKeyThatDoesNotFitAloneIsRefusedWithTheBytesAndDisturbsNobody) {
  SetLimit(100);
  FakeKey a(device_, 40, 40), huge(device_, 71, 80);
  ASSERT_OK(residency_->Add(a, 30, NoProofMemory));

  const absl::Status refused =
      residency_->Add(huge, 30, [] { return absl::InternalError("must not be called"); });

  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(GetReason(refused), ErrorReason::kOutOfMemory);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("fake:0: the key needs at least 71 + 30 bytes of device memory"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the limit is 100"));
  EXPECT_TRUE(a.resident());
  EXPECT_EQ(residency_->stats().keys, 1U);
}

TEST_F(KeyResidencyTest, AKeyWhoseProofsWouldLeaveNoRoomForAnotherIsRefused) {
  SetLimit(100);
  FakeKey a(device_, 40, 40), b(device_, 10, 10);
  ASSERT_OK(residency_->Add(a, 30, NoProofMemory));

  const absl::Status refused = residency_->Add(b, 61, NoProofMemory);

  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("need 61 bytes"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("a key here that needs 40"));
  EXPECT_OK(Prove(a));
}

TEST_F(KeyResidencyTest, ProofMemoryIsTakenWhenEnoughKeysAreGone) {
  SetLimit(100);
  FakeKey a(device_, 30, 60), b(device_, 30, 30);
  ASSERT_OK(residency_->Add(a, 20, NoProofMemory));
  size_t used = SIZE_MAX;

  ASSERT_OK(residency_->Add(b, 50, [&] {
    used = device_.used;
    return absl::OkStatus();
  }));

  EXPECT_LE(used, 50U);
  EXPECT_EQ(residency_->stats().proof_bytes, 50U);
  EXPECT_OK(Prove(a));
}

TEST_F(KeyResidencyTest, AKeyThatFailedToLoadIsUnknownAndOneThatFailedToComeBackIsTriedAgain) {
  SetLimit(100);
  FakeKey a(device_, 60, 60), b(device_, 60, 60);
  b.next_load = absl::InternalError("device");
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  EXPECT_FALSE(residency_->Add(b, 0, NoProofMemory).ok());
  EXPECT_EQ(residency_->stats().keys, 1U);

  a.next_load = absl::InternalError("device");
  EXPECT_FALSE(Prove(a).ok()) << "b displaced it, and it does not come back";
  EXPECT_OK(Prove(a));
  EXPECT_OK(residency_->Add(b, 0, NoProofMemory));
}

TEST_F(KeyResidencyTest, MemoryThatSomethingElseTookIsMadeUpForByAnotherKey) {
  SetLimit(100);
  device_.capacity = 70;
  FakeKey a(device_, 40, 40), b(device_, 40, 40), c(device_, 80, 80);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));

  EXPECT_FALSE(a.resident());
  EXPECT_TRUE(b.resident());
  EXPECT_TRUE(absl::IsResourceExhausted(residency_->Add(c, 0, NoProofMemory)));
  EXPECT_OK(Prove(a));
}

TEST_F(KeyResidencyTest, ARemovedKeyGivesItsBytesBack) {
  SetLimit(100);
  FakeKey a(device_, 60, 60), b(device_, 60, 60);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  residency_->Remove(a);
  residency_->Remove(a);  // nothing more happens
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));
  residency_->Remove(b);

  EXPECT_EQ(residency_->stats().evictions, 0U);
  EXPECT_EQ(residency_->stats().resident_bytes, 0U);
  EXPECT_EQ(device_.used, 0U);
}

TEST_F(KeyResidencyTest, TheMostThatAKnownKeyNeedsIsToldWhetherItIsResidentOrNot) {
  SetLimit(100);
  FakeKey a(device_, 70, 70), b(device_, 40, 40);
  EXPECT_EQ(residency_->stats().bytes_min_most, 0U);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));
  EXPECT_FALSE(a.resident());
  EXPECT_EQ(residency_->stats().bytes_min_most, 70U);
  residency_->Remove(a);
  EXPECT_EQ(residency_->stats().bytes_min_most, 40U);
  residency_->Remove(b);
  EXPECT_EQ(residency_->stats().bytes_min_most, 0U);
}

TEST_F(KeyResidencyTest, AnEvictedKeyCanBeRemoved) {
  SetLimit(100);
  FakeKey a(device_, 60, 60), b(device_, 60, 60);
  ASSERT_OK(residency_->Add(a, 0, NoProofMemory));
  ASSERT_OK(residency_->Add(b, 0, NoProofMemory));
  residency_->Remove(a);

  EXPECT_EQ(residency_->stats().resident_bytes, 60U);
  EXPECT_EQ(residency_->stats().keys, 1U);
}

// Four threads prove five circuits of which two or three fit: no key leaves in a proof, nobody waits for
// ever, and the limit is never passed.
TEST_F(KeyResidencyTest, ManyThreadsShareADeviceThatIsTooSmall) {
  SetLimit(100);
  std::vector<std::unique_ptr<FakeKey>> keys;
  for (int i = 0; i < 5; ++i) {
    keys.push_back(std::make_unique<FakeKey>(device_, 30, 40));
    ASSERT_OK(residency_->Add(*keys.back(), 10, NoProofMemory));
  }

  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 500; ++i) {
        FakeKey& key = *keys[(i * (t + 1) + t) % keys.size()];
        const auto use = residency_->UseKey(key);
        ASSERT_OK(use);
        ++key.users;
        EXPECT_TRUE(key.resident());
        --key.users;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  const KeyResidency::Stats stats = residency_->stats();
  EXPECT_LE(device_.most_used, 90U);
  EXPECT_EQ(stats.resident_bytes, device_.used);
  EXPECT_GT(stats.reloads, 0U);
  EXPECT_EQ(stats.evictions, stats.reloads + keys.size() - stats.resident);
}

}  // namespace
}  // namespace proofmill::engine
