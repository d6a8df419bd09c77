// What AllocateLarge() has done, and a way for tests to make one of its calls fail.
//
// Thread safety: any thread, any time; counts are only exact while nobody allocates.

#ifndef PROOFMILL_KERNELS_CPU_LARGE_MEMORY_COUNTS_H_
#define PROOFMILL_KERNELS_CPU_LARGE_MEMORY_COUNTS_H_

#include <cstdint>

namespace proofmill::kernels {

// Of all threads.
struct LargeMemoryCounts {
  uint64_t calls;       // of AllocateLarge() so far, those that failed included
  uint64_t in_use;      // arrays that were given and have not been freed
  uint64_t kept_bytes;  // of blocks that were freed and are kept
};
LargeMemoryCounts CountLargeMemory();

// For tests: call number n of AllocateLarge() from now on, from 0, throws std::bad_alloc, once. Takes the
// place of what was asked for before.
void FailLargeAllocation(uint64_t n);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_LARGE_MEMORY_COUNTS_H_
