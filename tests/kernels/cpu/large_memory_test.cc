#include "kernels/cpu/large_memory.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/large_memory_counts.h"
#include "tests/sanitized.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

// Sizes on both sides of every border that the implementation has.
std::vector<size_t> Sizes() {
  std::vector<size_t> out = {0, 1, 63, 64, 65};
  for (const size_t border :
       {32 * kKiB, 40 * kKiB, 64 * kKiB, 2 * kMiB, 5 * kMiB / 2, 32 * kMiB, 40 * kMiB}) {
    for (size_t bytes = border - 1; bytes <= border + 1; ++bytes) out.push_back(bytes);
  }
  return out;
}

TEST(LargeMemoryTest, BlocksOfEverySizeAreAlignedAndWritableToTheEnd) {
  for (const size_t bytes : Sizes()) {
    for (const size_t alignment : {size_t{1}, size_t{64}, size_t{4096}}) {
      auto* const block = static_cast<uint8_t*>(AllocateLarge(bytes, alignment));

      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u) << bytes;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
      if (bytes > 0) {
        block[0] = 1;
        block[bytes - 1] = 2;
      }
      FreeLarge(block, bytes);
    }
  }
}

TEST(LargeMemoryTest, BlocksInUseDoNotOverlap) {
  std::vector<uint8_t*> blocks;
  for (int round = 0; round < 2; ++round) {  // fresh blocks, then kept ones
    for (const size_t bytes : Sizes()) {
      blocks.push_back(static_cast<uint8_t*>(AllocateLarge(bytes, 1)));
      std::memset(blocks.back(), static_cast<int>(blocks.size()), bytes);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      const size_t bytes = Sizes()[i];
      for (size_t at = 0; at < bytes; at += 509) ASSERT_EQ(blocks[i][at], i + 1);
      FreeLarge(blocks[i], bytes);
    }
    blocks.clear();
  }
}

// Frees `count` blocks of the given size at once.
void FreeMany(size_t count, size_t bytes) {
  std::vector<void*> blocks;
  for (size_t i = 0; i < count; ++i) blocks.push_back(AllocateLarge(bytes, 64));
  for (void* const block : blocks) FreeLarge(block, bytes);
}

TEST(LargeMemoryTest, WhatWasFreedLastIsKeptWhateverWasFreedBefore) {
  if (kAddressSanitized) {
    FreeMany(2, 20 * kMiB);
    EXPECT_EQ(CountLargeMemory().kept_bytes, 0u) << "the sanitizer sees every block come and go";
    return;
  }
  for (const size_t bytes : {64 * kKiB, 20 * kMiB, 64 * kMiB + 128, 96 * kMiB}) {
    FreeMany(70, 2 * kMiB);  // more than is kept of them
    auto* const first = static_cast<uint8_t*>(AllocateLarge(bytes, 64));
    first[bytes - 1] = 77;  // fresh pages are zero
    FreeLarge(first, bytes);
    auto* const second = static_cast<uint8_t*>(AllocateLarge(bytes, 64));
    EXPECT_EQ(second, first) << bytes;
    EXPECT_EQ(second[bytes - 1], 77) << bytes;
    FreeLarge(second, bytes);
  }
}

TEST(LargeMemoryTest, NoMoreIsKeptThanTheBound) {
  for (const size_t bytes : {64 * kKiB, 2 * kMiB, 30 * kMiB, 64 * kMiB, 96 * kMiB, 97 * kMiB}) {
    FreeMany(3, bytes);
    EXPECT_LE(CountLargeMemory().kept_bytes, 128 * kMiB) << bytes;
  }
  FreeMany(3000, 64 * kKiB);
  EXPECT_LE(CountLargeMemory().kept_bytes, 128 * kMiB);
}

TEST(LargeMemoryTest, MoreThanTheAddressSpaceIsABadAllocation) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 5, size_t{1} << 60}) {
    EXPECT_THROW(AllocateLarge(bytes, 64), std::bad_alloc) << bytes;
  }
}

TEST(LargeMemoryTest, ThreadsMayShareIt) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (size_t i = 0; i < 400; ++i) {
        const size_t bytes = 32 * kKiB + i % 7 * 16 * kKiB;
        auto* const block = static_cast<uint8_t*>(AllocateLarge(bytes, 64));
        std::memset(block, t, bytes);
        std::this_thread::yield();
        for (size_t at = 0; at < bytes; at += 4096) ASSERT_EQ(block[at], t);
        FreeLarge(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace proofmill::kernels
