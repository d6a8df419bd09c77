// Working memory of a kernel whose contents depend on a witness: wiped before it is freed.

#ifndef PROOFMILL_KERNELS_CPU_SCRATCH_H_
#define PROOFMILL_KERNELS_CPU_SCRATCH_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "kernels/cpu/large_memory.h"

namespace proofmill::kernels {

struct Uninitialised {};
inline constexpr Uninitialised kUninitialised;

// An array of n elements. Owned by one thread or shared by the caller's own rules.
template <typename T>
class SecretScratch {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Default-initialised elements (integers are not).
  explicit SecretScratch(size_t n) : SecretScratch(n, kUninitialised) {
    std::uninitialized_default_construct_n(data_, n);
  }
  // Elements that are all written before they are read.
  SecretScratch(size_t n, Uninitialised)
      : data_(static_cast<T*>(AllocateLarge(n * sizeof(T), alignof(T)))), size_(n) {}
  ~SecretScratch() {
    std::memset(static_cast<void*>(data_), 0, size_ * sizeof(T));
    __asm__ volatile("" : : "r"(data_) : "memory");  // the compiler may not drop the wipe
    FreeLarge(data_, size_ * sizeof(T));
  }
  SecretScratch(const SecretScratch&) = delete;
  SecretScratch& operator=(const SecretScratch&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T* const data_;
  const size_t size_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_SCRATCH_H_
