#include "kernels/cpu/large_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace proofmill::kernels {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void* AllocateLarge(size_t bytes, size_t alignment) {
  const bool huge = bytes >= kHugePage;
  alignment = std::max({alignment, kCacheLine, huge ? kHugePage : 0});
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, std::max<size_t>(bytes, 1)) != 0) throw std::bad_alloc();
  // A hint: without huge pages everything works, slower. Whole pages only, so that no neighbour is touched.
  if (huge) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

void KeepFreedMemory() {
#if defined(__GLIBC__)
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 256 * kMiB);
  mallopt(M_TOP_PAD, 4 * kMiB);
#endif
}

void FreeLarge(void* memory) { std::free(memory); }

}  // namespace proofmill::kernels
