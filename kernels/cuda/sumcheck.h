// The vectors of a sumcheck over the boolean hypercube on a device: what kernels/cpu/sumcheck.h computes,
// with points, coefficients and challenges read from device memory.
//
// Variable 0 is the most significant bit of an index. An extension vector has kDegree planes, `stride` words
// apart; a base vector is one. Words are Montgomery forms. kDegree is 4 or 5.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Launchers only enqueue on `stream` and
// return the launch error. REQUIRES everywhere: the current device owns the stream and the memory.

#ifndef PROOFMILL_KERNELS_CUDA_SUMCHECK_H_
#define PROOFMILL_KERNELS_CUDA_SUMCHECK_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/transcript.h"
#include "kernels/field/poseidon2.h"

namespace proofmill::kernels {

struct DevicePlanes {
  uint32_t* data;
  size_t stride;
};
// A vector that is still of base elements, or one of the extension.
struct DeviceVectorView {
  const uint32_t* data;
  size_t stride;
  bool extension;
};

// The functions of an index b < 2^log2_size = 2^hi * 2^lo as sums of products of two tables: over the low
// half, and over the high half. A table of kDegree words a value has them in planes over the low half, side
// by side over the high half.
constexpr uint32_t LoBits(uint32_t log2_size) { return (log2_size + 1) / 2; }
constexpr uint32_t HiBits(uint32_t log2_size) { return log2_size / 2; }
// Words for `eqs` eq terms and `powers` power terms of vectors up to 2^log2_size.
constexpr size_t TermTableWords(uint32_t degree, size_t eqs, size_t powers, uint32_t log2_size) {
  const size_t lo = size_t{1} << LoBits(log2_size), hi = size_t{1} << HiBits(log2_size);
  return eqs * degree * (lo + hi) + powers * (lo + degree * hi);
}

// coefficient * eq(point, b): points of log2_size elements, one after the other, in the order of the
// variables.
struct EqTerms {
  const uint32_t* points;
  const uint32_t* coefficients;
  uint32_t count;
};
// coefficient * x^b, x being `generator` to the power of the position.
struct PowerTerms {
  uint32_t generator;
  const uint32_t* positions;
  const uint32_t* position_count;  // terms from this on do not count
  const uint32_t* coefficients;
  uint32_t count;
};

// Adds all terms to w, or sets w to their sum. `tables` holds TermTableWords() of these counts.
template <int kDegree>
cudaError_t LaunchAddWeights(const EqTerms& eqs, const PowerTerms& powers, uint32_t log2_size, bool overwrite,
                             uint32_t* tables, DevicePlanes w, cudaStream_t stream);

// Words of partial sums that any launcher below may write.
constexpr size_t kPartialSumsMax = 4096;
constexpr size_t PartialSumWords(uint32_t degree) { return kPartialSumsMax * 2 * degree; }

// The round that sums are for: LaunchSumcheckRound() by the block that ends last. Partial sums in `step` are
// those of the launcher. REQUIRES: at most kBlockSearchBitsMax search_bits.
template <int kDegree>
struct RoundEnd {
  DeviceSponge* sponge;  // null: the round is a launch of its own
  SumcheckStep<kDegree> step;
  uint32_t* arrived;  // a word that is zero, and is again zero after
};
// h(0) and h(2) of the next round, over vectors of 2 * half elements, as *partial_count sums of 2 * kDegree
// words each; unless `end` takes them.
template <int kDegree>
cudaError_t LaunchRoundSums(const Poseidon2Constants<16>& constants, const DeviceVectorView& f,
                            DevicePlanes w, uint64_t half, uint32_t* partials, uint32_t* partial_count,
                            RoundEnd<kDegree> end, cudaStream_t stream);
// Sets variable 0 of f and w to the challenge: w in place, f to f_out, which may be f.
template <int kDegree>
cudaError_t LaunchFold(const DeviceVectorView& f, DevicePlanes f_out, DevicePlanes w, uint64_t half,
                       const uint32_t* challenge, cudaStream_t stream);
// The same, and LaunchRoundSums() of what comes out. REQUIRES: half > 1.
template <int kDegree>
cudaError_t LaunchFoldAndSum(const Poseidon2Constants<16>& constants, const DeviceVectorView& f,
                             DevicePlanes f_out, DevicePlanes w, uint64_t half, const uint32_t* challenge,
                             uint32_t* partials, uint32_t* partial_count, RoundEnd<kDegree> end,
                             cudaStream_t stream);

// The elements of an extension vector side by side.
template <int kDegree>
cudaError_t LaunchInterleave(DevicePlanes f, uint64_t size, uint32_t* out, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_SUMCHECK_H_
