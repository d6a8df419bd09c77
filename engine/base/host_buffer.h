// HostBuffer<T>: an owning array in host memory whose elements start uninitialised, for vectors of millions
// of points or scalars that are about to be overwritten (reading a key section costs no memset).
// SecretBuffer<T> also wipes its bytes when it goes.
//
// Thread safety: as a plain array. Move only.

#ifndef PROOFMILL_ENGINE_BASE_HOST_BUFFER_H_
#define PROOFMILL_ENGINE_BASE_HOST_BUFFER_H_

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"
#include "engine/base/secure_memory.h"
#include "kernels/cpu/large_memory.h"

namespace proofmill::engine {

template <typename T, bool kSecret = false>
class HostBuffer {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
  HostBuffer() = default;
  // `count` uninitialised elements. Throws std::bad_alloc: check sizes against the file or the message
  // before.
  explicit HostBuffer(size_t count)
      : data_(count == 0 ? nullptr
                         : static_cast<T*>(kernels::AllocateLarge(CheckedBytes(count), alignof(T)))),
        size_(count) {}
  ~HostBuffer() { Release(); }
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    if (this != &other) {
      Release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t size_bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  static size_t CheckedBytes(size_t count) {
    if (count > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return count * sizeof(T);
  }
  void Release() {
    if (data_ == nullptr) return;
    if constexpr (kSecret) WipeMemory(data_, size_bytes());
    kernels::FreeLarge(data_, size_bytes());
    data_ = nullptr;
    size_ = 0;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
};

template <typename T>
using SecretBuffer = HostBuffer<T, true>;

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_HOST_BUFFER_H_
