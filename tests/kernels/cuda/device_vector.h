// Vectors in device memory for tests, and the way out where there is no GPU.

#ifndef PROOFMILL_TESTS_KERNELS_CUDA_DEVICE_VECTOR_H_
#define PROOFMILL_TESTS_KERNELS_CUDA_DEVICE_VECTOR_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::kernels {

// A vector of trivially copyable T in device memory.
template <typename T>
class DeviceVector {
 public:
  // `n` elements of unspecified value.
  explicit DeviceVector(size_t n) : n_(n) {
    if (n != 0) {
      EXPECT_EQ(cudaMalloc(&data_, n * sizeof(T)), cudaSuccess);
    }
  }
  explicit DeviceVector(const std::vector<T>& values) : DeviceVector(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~DeviceVector() { cudaFree(data_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> Download() const {
    std::vector<T> out(n_);
    EXPECT_EQ(cudaMemcpy(out.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }

 private:
  const size_t n_;
  void* data_ = nullptr;
};

// A test that runs on a GPU, and is skipped with a word where there is none.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "skipped: no GPU";
  }
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_CUDA_DEVICE_VECTOR_H_
