#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "engine/base/host_buffer.h"
#include "engine/base/secure_memory.h"
#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

TEST(SecureMemoryTest, WipingLeavesZeros) {
  std::array<uint8_t, 64> bytes;
  bytes.fill(0xAB);

  WipeMemory(bytes.data(), bytes.size());

  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; }));
  WipeMemory(nullptr, 0);
}

TEST(SecureMemoryTest, AScopedWipeEndsWithTheScope) {
  uint64_t secret = 42;
  { const ScopedWipe<uint64_t> wipe(secret); }
  EXPECT_EQ(secret, 0u);
}

TEST(SecureMemoryTest, RandomBytesDifferFromCallToCall) {
  std::set<std::array<uint8_t, 16>> seen;
  for (int i = 0; i < 100; ++i) {
    std::array<uint8_t, 16> bytes{};
    ASSERT_TRUE(FillRandom(bytes.data(), bytes.size()).ok());
    EXPECT_TRUE(seen.insert(bytes).second);
  }
}

TEST(HostBufferTest, OwnsWhatItWasMadeWithAndGivesItAwayByMove) {
  HostBuffer<uint64_t> buffer(1000);
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = i;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);

  HostBuffer<uint64_t> other = std::move(buffer);

  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(other.size_bytes(), 8000u);
  EXPECT_EQ(other[999], 999u);
  other = HostBuffer<uint64_t>();
  EXPECT_TRUE(other.empty());
}

TEST(HostBufferTest, ASizeThatOverflowsIsRefusedAndNotRoundedDown) {
  EXPECT_THROW(HostBuffer<uint64_t>(SIZE_MAX / 4), std::bad_alloc);
}

TEST(SecretBufferTest, MovingLeavesNoSecondCopyBehind) {
  SecretBuffer<uint64_t> secret(4);
  secret[0] = 7;
  const uint64_t* const where = secret.data();

  const SecretBuffer<uint64_t> moved = std::move(secret);

  EXPECT_EQ(moved.data(), where) << "the bytes stay where they were";
  EXPECT_EQ(secret.size(), 0u);
}

}  // namespace
}  // namespace proofmill::engine
