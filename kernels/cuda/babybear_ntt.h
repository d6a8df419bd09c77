// Reed-Solomon encoding on a device: the transform of kernels/cpu/babybear_ntt.h, word for word.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Launchers only enqueue on `stream` and
// return the launch error. REQUIRES everywhere: the current device owns the stream and the memory.
//
// Columns are transformed where they lie, without transposing: passes over strided tiles first, then one over
// contiguous tiles of up to 2^13 words. Each pass reads and writes every word once; a tile's layers are done
// in shared memory, four at a time in registers. The first pass reads the polynomial, so that padding and
// copying cost nothing.

#ifndef PROOFMILL_KERNELS_CUDA_BABYBEAR_NTT_H_
#define PROOFMILL_KERNELS_CUDA_BABYBEAR_NTT_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace proofmill::kernels {

// Fills the twiddles for heights up to 2^log2_height_max: 2^log2_height_max / 2 words, at least one.
cudaError_t LaunchBabyBearTwiddles(uint32_t* blocks, uint32_t log2_height_max, cudaStream_t stream);

// As BabyBearNtt::Encode(); `blocks` holds the twiddles for log2_height at least. `in` has `planes` planes of
// 2^log2_length words, `stride` words apart.
struct EncodeTask {
  const uint32_t* blocks;
  const uint32_t* in;
  size_t stride;
  uint32_t planes;
  uint32_t log2_length;
  uint32_t log2_columns;
  uint32_t log2_height;
  uint32_t* out;
};
cudaError_t LaunchEncode(const EncodeTask& task, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_BABYBEAR_NTT_H_
