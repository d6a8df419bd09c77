// Memory for arrays that may be large: from 2 MiB on the system is asked for huge pages, because the first
// touch of 512 small ones costs as much as the work on them.

#ifndef PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_
#define PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_

#include <cstddef>

namespace proofmill::kernels {

// Uninitialised memory, aligned to a cache line at least. Throws std::bad_alloc. Thread safety: any thread.
void* AllocateLarge(size_t bytes, size_t alignment);

// REQUIRES: `memory` is from AllocateLarge(), or null.
void FreeLarge(void* memory);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_
