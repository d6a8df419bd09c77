// Working memory of a kernel whose contents depend on a witness: wiped before it is freed.

#ifndef PROOFMILL_KERNELS_CPU_SCRATCH_H_
#define PROOFMILL_KERNELS_CPU_SCRATCH_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace proofmill::kernels {

// An array of n elements, default-initialised (integers are not). Owned by one thread or shared by the
// caller's own rules.
template <typename T>
class SecretScratch {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit SecretScratch(size_t n) : data_(new T[n]), size_(n) {}
  ~SecretScratch() {
    std::memset(static_cast<void*>(data_.get()), 0, size_ * sizeof(T));
    __asm__ volatile("" : : "r"(data_.get()) : "memory");  // the compiler may not drop the wipe
  }
  SecretScratch(const SecretScratch&) = delete;
  SecretScratch& operator=(const SecretScratch&) = delete;

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  const std::unique_ptr<T[]> data_;
  const size_t size_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_SCRATCH_H_
