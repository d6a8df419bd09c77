#include "kernels/cpu/large_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "kernels/cpu/large_memory_counts.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
// Smaller blocks are malloc's.
constexpr size_t kBlockMin = size_t{32} << 10;
// Larger blocks are not kept.
constexpr size_t kKeptBlockMax = size_t{96} << 20;
constexpr size_t kKeptDefault = size_t{128} << 20;
constexpr size_t kKeptOnWish = size_t{256} << 20;
static_assert(kKeptBlockMax <= kKeptDefault);

// Blocks of our own would hide overruns and use after free from the address sanitizer.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kOwnBlocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kOwnBlocks = false;
#else
constexpr bool kOwnBlocks = true;
#endif
#else
constexpr bool kOwnBlocks = true;
#endif

bool IsBlock(size_t bytes) { return kOwnBlocks && bytes >= kBlockMin; }

// Sizes of blocks: four to a power of two, so that similar arrays can follow each other in one.
constexpr size_t kSizesPerDoubling = 4;
size_t SizeNumber(size_t bytes) {
  const size_t log2 = static_cast<size_t>(std::bit_width(bytes - 1)) - 1;  // of the power of two below
  const size_t step = (size_t{1} << log2) / kSizesPerDoubling;
  return log2 * kSizesPerDoubling + (bytes - 1 - (size_t{1} << log2)) / step;
}
size_t SizeOf(size_t number) {
  const size_t base = size_t{1} << (number / kSizesPerDoubling);
  return base + (number % kSizesPerDoubling + 1) * (base / kSizesPerDoubling);
}
// No array of ours comes near, and the address sanitizer ends a process that asks for more.
constexpr size_t kBytesMax = size_t{1} << 40;

void* Map(size_t bytes) {
  const size_t slack = bytes >= kHugePage ? kHugePage : 0;
  void* const mapped =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  if (slack == 0) return mapped;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before != 0) munmap(begin, before);
  if (before != slack) munmap(begin + before + bytes, slack - before);
  // A hint: without huge pages everything works, slower.
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

// Freed blocks by size. Those that were freed last are kept, since the next array is most likely of their
// size: what a key was loaded with must not keep out what every proof needs.
class KeptBlocks {
 public:
  // A block of the given size, or null.
  void* Take(size_t number) {
    const std::lock_guard lock(mu_);
    std::vector<Block>& blocks = blocks_[number];
    if (blocks.empty()) return nullptr;
    void* const out = blocks.back().memory;
    blocks.pop_back();
    bytes_ -= SizeOf(number);
    return out;
  }

  void Put(size_t number, void* memory) {
    const size_t size = SizeOf(number);
    bool settled = size > kKeptBlockMax;
    if (settled) munmap(memory, size);
    while (!settled) {
      std::pair<void*, size_t> unmapped{memory, size};
      {
        const std::lock_guard lock(mu_);
        if (bytes_ + size > bytes_max_) {
          unmapped = TakeOldestLocked();
        } else {
          settled = true;
          if (AddLocked(number, memory)) return;
        }
      }
      munmap(unmapped.first, unmapped.second);
    }
  }

  void SetMax(size_t bytes) {
    const std::lock_guard lock(mu_);
    bytes_max_ = bytes;
  }

  size_t bytes() {
    const std::lock_guard lock(mu_);
    return bytes_;
  }

 private:
  struct Block {
    void* memory;
    uint64_t freed;  // a number that rises
  };

  // False for want of memory.
  bool AddLocked(size_t number, void* memory) {
    try {
      blocks_[number].push_back({memory, ++freed_});
    } catch (const std::bad_alloc&) {
      return false;
    }
    bytes_ += SizeOf(number);
    return true;
  }

  // The block that was freed first, and its size. REQUIRES: there is one.
  std::pair<void*, size_t> TakeOldestLocked() {
    size_t oldest = blocks_.size();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].empty()) continue;
      if (oldest == blocks_.size() || blocks_[i].front().freed < blocks_[oldest].front().freed) oldest = i;
    }
    void* const memory = blocks_[oldest].front().memory;
    blocks_[oldest].erase(blocks_[oldest].begin());
    bytes_ -= SizeOf(oldest);
    return {memory, SizeOf(oldest)};
  }

  std::mutex mu_;
  std::array<std::vector<Block>, 64 * kSizesPerDoubling> blocks_;  // each in the order of freeing
  uint64_t freed_ = 0;
  size_t bytes_ = 0;
  size_t bytes_max_ = kKeptDefault;
};

// Never destroyed: arrays with static storage may be freed after it would be.
KeptBlocks& Kept() {
  static KeptBlocks* const kept = new KeptBlocks;
  return *kept;
}

void* Allocate(size_t bytes, size_t alignment) {
  if (bytes > kBytesMax) throw std::bad_alloc();
  if (IsBlock(bytes)) {
    const size_t number = SizeNumber(bytes);
    void* const kept = Kept().Take(number);
    return kept != nullptr ? kept : Map(SizeOf(number));
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, kCacheLine), std::max<size_t>(bytes, 1)) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}

// Counts: they publish no data.
std::atomic<uint64_t> calls{0};
std::atomic<uint64_t> in_use{0};
std::atomic<uint64_t> fail_at{UINT64_MAX};

}  // namespace

void* AllocateLarge(size_t bytes, size_t alignment) {
  const uint64_t number = calls.fetch_add(1, std::memory_order_relaxed);
  if (number == fail_at.load(std::memory_order_relaxed)) throw std::bad_alloc();
  void* const memory = Allocate(bytes, alignment);
  in_use.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void FreeLarge(void* memory, size_t bytes) {
  in_use.fetch_sub(1, std::memory_order_relaxed);
  if (!IsBlock(bytes)) return std::free(memory);
  Kept().Put(SizeNumber(bytes), memory);
}

void KeepFreedMemory() { Kept().SetMax(kKeptOnWish); }

LargeMemoryCounts CountLargeMemory() {
  return {calls.load(std::memory_order_relaxed), in_use.load(std::memory_order_relaxed), Kept().bytes()};
}

void FailLargeAllocation(uint64_t n) {
  fail_at.store(calls.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

static_assert(kBlockMin / kSizesPerDoubling >= kPage, "blocks are whole pages");

}  // namespace proofmill::kernels
