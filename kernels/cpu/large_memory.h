// Memory for arrays that may be large, past malloc (whose blocks the program overwrites whenever they are
// freed): 32 KiB or more come from the system, from 2 MiB on in huge pages, and what is freed is kept for the
// next block of its size: up to 96 MiB each, 128 MiB in all, those freed last. The first touch of fresh pages
// costs as much as the work on them, and a proof needs the same scratch again and again.
//
// Freed blocks keep their contents: wipe secrets first.
//
// Thread safety: any thread, any time.

#ifndef PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_
#define PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_

#include <cstddef>

namespace proofmill::kernels {

// Uninitialised memory, aligned to a cache line at least. Throws std::bad_alloc. REQUIRES: `alignment` is a
// power of two and at most 4096.
void* AllocateLarge(size_t bytes, size_t alignment);

// REQUIRES: `memory` is from AllocateLarge() with the same `bytes`.
void FreeLarge(void* memory, size_t bytes);

// Makes this process keep up to 256 MiB of freed blocks, not 128. For programs that end when their
// work is done.
void KeepFreedMemory();

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_LARGE_MEMORY_H_
