#include "tests/engine/dispatch/failing_new.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr uint64_t kNever = UINT64_MAX;

std::atomic<uint64_t> fail_at{kNever};
std::atomic<uint64_t> calls{0};
std::atomic<bool> counting{false};
thread_local int left_out = 0;

void CountCall() {
  if (!counting.load(std::memory_order_relaxed) || left_out != 0) return;
  if (calls.fetch_add(1, std::memory_order_relaxed) == fail_at.load(std::memory_order_relaxed)) {
    throw std::bad_alloc();
  }
}

void* Allocate(size_t size) {
  CountCall();
  void* const memory = std::malloc(std::max<size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* AllocateAligned(size_t size, std::align_val_t alignment) {
  CountCall();
  const auto align = static_cast<size_t>(alignment);
  void* const memory = std::aligned_alloc(align, (std::max<size_t>(size, 1) + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void* operator new(size_t size, std::align_val_t alignment) { return AllocateAligned(size, alignment); }
void* operator new[](size_t size, std::align_val_t alignment) { return AllocateAligned(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace proofmill::engine {

void FailNew(uint64_t n) {
  calls.store(0);
  fail_at.store(n);
  counting.store(true);
}

uint64_t StopFailingNew() {
  counting.store(false);
  fail_at.store(kNever);
  return calls.load();
}

LeftOutOfFaults::LeftOutOfFaults() { ++left_out; }
LeftOutOfFaults::~LeftOutOfFaults() { --left_out; }

}  // namespace proofmill::engine
