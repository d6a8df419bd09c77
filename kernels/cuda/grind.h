// The search for the nonce of a proof of work on a device.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Only enqueues on `stream`; returns the
// launch error.

#ifndef PROOFMILL_KERNELS_CUDA_GRIND_H_
#define PROOFMILL_KERNELS_CUDA_GRIND_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/transcript.h"
#include "kernels/field/poseidon2.h"

namespace proofmill::kernels {

// Finds the smallest nonce below `end`, canonical, that makes the next sample of the sponge after
// observing it have `bits` zero bits at its low end. Blocks take chunks of nonces in ascending order and end
// when theirs begin after a hit. Does nothing once the sponge has failed. REQUIRES: 0 < bits <= 31, end <= p;
// the sponge has at most seven pending inputs; the result is all zero.
cudaError_t LaunchGrind(const Poseidon2Constants<16>& constants, const DeviceSponge* sponge, uint32_t bits,
                        uint32_t end, NonceResult* result, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_GRIND_H_
