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

// Makes this process keep up to 256 MiB that it has freed for its next allocations. By default glibc gives
// large blocks back at once, and a proof, which needs the same scratch again and again, would spend a fifth
// of its time on page faults. For programs that end when their work is done; call before other threads start.
// Without glibc it does nothing.
void KeepFreedMemory();

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_
