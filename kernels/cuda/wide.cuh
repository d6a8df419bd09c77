// Elements in global memory, 16 bytes an access. A field element of four 64-bit limbs has the alignment of a
// limb, so that a plain load takes four accesses of 8 bytes, each of which touches as many sectors as one of
// 16 bytes. Device code only.

#ifndef PROOFMILL_KERNELS_CUDA_WIDE_CUH_
#define PROOFMILL_KERNELS_CUDA_WIDE_CUH_

#include <cstddef>
#include <cstring>

namespace proofmill::kernels::device {

// An element whose 16-byte pieces lie `stride` pieces apart.
template <typename T>
__device__ __forceinline__ T LoadPieces(const uint4* pieces, size_t stride) {
  uint4 words[sizeof(T) / sizeof(uint4)];
#pragma unroll
  for (size_t i = 0; i < sizeof(T) / sizeof(uint4); ++i) words[i] = pieces[i * stride];
  T out;
  memcpy(&out, words, sizeof(T));
  return out;
}
template <typename T>
__device__ __forceinline__ void StorePieces(uint4* pieces, size_t stride, const T& value) {
  uint4 words[sizeof(T) / sizeof(uint4)];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (size_t i = 0; i < sizeof(T) / sizeof(uint4); ++i) pieces[i * stride] = words[i];
}

// `place` must be aligned to 16 bytes, as every element of an array in device memory is.
template <typename T>
__device__ __forceinline__ T LoadWide(const T* place) {
  static_assert(sizeof(T) % sizeof(uint4) == 0);
  return LoadPieces<T>(reinterpret_cast<const uint4*>(place), 1);
}
template <typename T>
__device__ __forceinline__ void StoreWide(T* place, const T& value) {
  static_assert(sizeof(T) % sizeof(uint4) == 0);
  StorePieces(reinterpret_cast<uint4*>(place), 1, value);
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_WIDE_CUH_
