// The products of the R1CS matrices with the witness on a device: values of A, B and C on the domain.
//
// Plain C++: host code that includes this file needs no CUDA compiler.

#ifndef PROOFMILL_KERNELS_CUDA_GATHER_H_
#define PROOFMILL_KERNELS_CUDA_GATHER_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// A sparse matrix by rows in device memory. Values are the integers v*R^2 mod r of a .zkey, so that a
// Montgomery product with a plain witness value is v*w in Montgomery form.
struct DeviceCsr {
  const uint32_t* row_offsets = nullptr;  // rows + 1
  const uint32_t* columns = nullptr;      // below the number of wires
  const Fr* values = nullptr;
};

// Rows with more terms than this in A and B together have a warp each, the others a thread.
inline constexpr uint32_t kGatherShortRowTerms = 16;

// The witnesses of `count` proofs, of `wires` values each, side by side: plain, below r.
struct DeviceWitnesses {
  const U256* values = nullptr;
  uint32_t wires = 0;
  uint32_t count = 1;
};

// For each witness abc holds three vectors of n values side by side: a[i] = sum of row i of A times the
// witness, b[i] likewise, c[i] = a[i] * b[i], all in Montgomery form. long_rows: the rows of more than
// kGatherShortRowTerms terms, each once. Only enqueues on `stream`; returns the launch error.
cudaError_t LaunchGather(const DeviceCsr& a, const DeviceCsr& b, const DeviceWitnesses& witnesses, uint32_t n,
                         const uint32_t* long_rows, uint32_t long_row_count, Fr* abc, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_GATHER_H_
