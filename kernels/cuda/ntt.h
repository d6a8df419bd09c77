// Number-theoretic transforms over Fr on a device, and the H polynomial of Groth16 from the gathered A, B and
// C.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Values are in Montgomery form unless
// said. All launchers only enqueue on `stream` and return the launch error; nothing allocates. REQUIRES
// everywhere: the current device owns the stream and the memory; log2_n <= 28 and vectors of 2^log2_n values.
//
// A transform goes from natural to bit-reversed order (decimation in frequency) or back (decimation in time),
// so that no pass only reorders. A pass loads tiles of 1024 values, does up to 10 levels in registers and
// shared memory, and stores them: three passes to 2^24.

#ifndef PROOFMILL_KERNELS_CUDA_NTT_H_
#define PROOFMILL_KERNELS_CUDA_NTT_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// What all transforms of one domain share, in device memory.
struct NttTables {
  uint32_t log2_n = 0;
  Fr* roots = nullptr;  // level by level: w^i at 2^level + i, i < 2^level, w = FrRootOfUnity(level + 1)
  Fr* coset = nullptr;  // g^i / n at the bit-reversed place of i; g is the 2n-th root of unity, or 25 when
                        // log2_n is 28
};

// Fills the tables. Each holds n values.
cudaError_t LaunchNttTables(const NttTables& tables, cudaStream_t stream);

// `batch` vectors side by side, in place: values natural to coefficients (times n) in bit-reversed order.
cudaError_t LaunchNttInverse(const NttTables& tables, Fr* values, uint32_t batch, cudaStream_t stream);
// Coefficients in bit-reversed order to values in natural order.
cudaError_t LaunchNttForward(const NttTables& tables, Fr* values, uint32_t batch, cudaStream_t stream);
// Multiplies by the coset table, element by element.
cudaError_t LaunchNttCoset(const NttTables& tables, Fr* values, uint32_t batch, cudaStream_t stream);

// h[i] = a[i] * b[i] - c[i] on the coset g * <w>, in plain form: the scalars of section 9. abc holds a, b and
// c side by side as values on the domain, natural order; it is overwritten, and h may lie where c does.
// Inverse, coset shift, forward and the product are fused: of P passes a transform, 2P - 1 in all. For a
// batch, abc and h of one proof are 3n values after those of the proof before.
cudaError_t LaunchComputeH(const NttTables& tables, Fr* abc, U256* h, uint32_t batch, cudaStream_t stream);
// The same for one proof, by the separate steps above: the reference that tests compare with.
cudaError_t LaunchComputeHUnfused(const NttTables& tables, Fr* abc, U256* h, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_NTT_H_
