#include "tests/engine/formats/allocation_watch.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> live_bytes{0};
std::atomic<size_t> peak_bytes{0};

void* Count(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = live_bytes.fetch_add(malloc_usable_size(memory)) + malloc_usable_size(memory);
  size_t peak = peak_bytes.load();
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void Release(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes.fetch_sub(malloc_usable_size(memory));
  std::free(memory);
}

void* AlignedMemory(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return std::aligned_alloc(align, (std::max<size_t>(size, 1) + align - 1) / align * align);
}

}  // namespace

void* operator new(size_t size) { return Count(std::malloc(std::max<size_t>(size, 1))); }
void* operator new[](size_t size) { return Count(std::malloc(std::max<size_t>(size, 1))); }
void* operator new(size_t size, std::align_val_t alignment) { return Count(AlignedMemory(size, alignment)); }
void* operator new[](size_t size, std::align_val_t alignment) {
  return Count(AlignedMemory(size, alignment));
}
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete[](void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t) noexcept { Release(memory); }
void operator delete[](void* memory, size_t) noexcept { Release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { Release(memory); }

namespace proofmill::engine {

AllocationWatch::AllocationWatch() : start_bytes_(live_bytes.load()) { peak_bytes.store(start_bytes_); }

size_t AllocationWatch::PeakBytes() const { return peak_bytes.load() - start_bytes_; }

}  // namespace proofmill::engine
