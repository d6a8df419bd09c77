// Out-of-domain answers of a WHIR proof on a device: a polynomial, given by its values on the hypercube, at a
// point that the transcript chose.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Launchers only enqueue on `stream` and
// return the launch error. REQUIRES everywhere: the current device owns the stream and the memory. kDegree is
// 4 or 5.

#ifndef PROOFMILL_KERNELS_CUDA_EVALUATE_H_
#define PROOFMILL_KERNELS_CUDA_EVALUATE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/sumcheck.h"
#include "kernels/cuda/transcript.h"
#include "kernels/field/poseidon2.h"

namespace proofmill::kernels {

// All pointers are to device memory, words are Montgomery forms.
struct AnswerStep {
  const uint32_t* point;  // log2_size elements, in the order of the variables
  uint32_t* value;        // kDegree words: f at the point, observed
  uint32_t* copy;         // the same
  uint32_t* next_point;   // null, or where LaunchObserve() has its point
  uint32_t* partials;     // PartialSumWords()
  uint32_t* arrived;      // a word that is zero, and is again zero after
};
// Evaluates f, of 2^log2_size elements, observes its value and may sample the next point.
template <int kDegree>
cudaError_t LaunchAnswer(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                         const DeviceVectorView& f, uint32_t log2_size, const AnswerStep& step,
                         cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_EVALUATE_H_
