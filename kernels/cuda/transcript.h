// The Fiat-Shamir transcript of a WHIR proof on a device: the duplex sponge of engine/whir/transcript.h in
// device memory, and the steps of the protocol that observe and sample. With it no challenge waits for the
// host.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Launchers only enqueue on `stream` and
// return the launch error. REQUIRES everywhere: the current device owns the stream and the memory. All
// pointers are to device memory; words are Montgomery forms. kDegree is 4 or 5.

#ifndef PROOFMILL_KERNELS_CUDA_TRANSCRIPT_H_
#define PROOFMILL_KERNELS_CUDA_TRANSCRIPT_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/field/poseidon2.h"

namespace proofmill::kernels {

struct DeviceSponge {
  uint32_t state[16];     // pending inputs already over its first words
  uint32_t input_count;   // of them
  uint32_t output_count;  // samples left in state[0 .. output_count)
  uint32_t failed;        // a proof of work had no nonce: nothing that follows means anything
};

// What the blocks of a search for a nonce share. All zero before a search; zero again once the nonce is
// taken.
struct NonceResult {
  uint32_t best;    // the complement of the smallest nonce that passes, canonical; 0 if none
  uint32_t next;    // from where on nobody has searched yet
  uint32_t blocks;  // that are at an end
};
inline constexpr uint32_t kNoDeviceNonce = ~uint32_t{0};
// Searches up to here are expected to end so soon that they are part of the steps below. Longer ones are
// LaunchGrind().
inline constexpr uint32_t kStepSearchBitsMax = 15;
// Up to here a single block is expected to find the nonce before others could be asked: 32 nonces at a time.
inline constexpr uint32_t kBlockSearchBitsMax = 6;

// Observes `count` words and writes them to `copy`. If `point` is not null, then samples an element z and
// writes (z^(2^(n-1)), .., z^2, z) to it, n elements.
template <int kDegree>
cudaError_t LaunchObserve(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                          const uint32_t* words, uint32_t count, uint32_t* copy, uint32_t* point, uint32_t n,
                          cudaStream_t stream);

// A proof of work: observes the nonce, as a word also written to `copy`, and takes the sample that it was
// made for. The sponge fails if there is none.
struct NonceStep {
  NonceResult* found;  // null: there is no proof of work
  uint32_t* copy;
  uint32_t search_bits;  // the step searches as LaunchGrind() does; 0: that went before
  uint32_t search_end;
};

// One round of sumcheck as the transcript has it.
template <int kDegree>
struct SumcheckStep {
  const uint32_t* partials;  // h(0) and h(2) in `partial_count` parts of 2 * kDegree words
  uint32_t partial_count;
  uint32_t* evaluations;  // 2 * kDegree words: h(0) and h(2), observed
  NonceStep pow;
  uint32_t* sum;        // kDegree words: the claimed sum, replaced by h(r)
  uint32_t* challenge;  // kDegree words: r
};
// Adds up and observes h(0) and h(2), ends the proof of work, samples r and sets the new sum. REQUIRES:
// without search_bits, step.pow.found is null.
template <int kDegree>
cudaError_t LaunchSumcheckRound(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                                const SumcheckStep<kDegree>& step, cudaStream_t stream);
// The first half alone, before LaunchGrind().
template <int kDegree>
cudaError_t LaunchSumcheckObserve(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                                  const SumcheckStep<kDegree>& step, cudaStream_t stream);
// The second half, after it. REQUIRES: step.pow.found is not null.
template <int kDegree>
cudaError_t LaunchSumcheckChallenge(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                                    const SumcheckStep<kDegree>& step, cudaStream_t stream);

// Takes the nonce, if any, then a sample that nobody uses if `checkpoint`, then `queries` positions of `bits`
// bits each. Writes them sorted and without repetitions to `positions`, and how many to *count. `scratch`
// holds 2 * queries words.
struct QueryStep {
  NonceStep pow;
  bool checkpoint;
  uint32_t bits;
  uint32_t queries;
  uint32_t* positions;
  uint32_t* count;
  uint32_t* scratch;
};
cudaError_t LaunchQueries(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                          const QueryStep& step, cudaStream_t stream);

// Samples gamma; coefficient j of eq_count + power_count, kDegree words each, becomes gamma^j, and zero where
// power j - eq_count is not below *power_count_used; the sum grows by coefficients times values. values:
// kDegree words each.
struct CombineStep {
  const uint32_t* values;
  uint32_t eq_count;
  uint32_t power_count;
  const uint32_t* power_count_used;
  bool overwrite;  // the sum was zero
  uint32_t* coefficients;
  uint32_t* sum;
};
template <int kDegree>
cudaError_t LaunchCombine(const Poseidon2Constants<16>& constants, DeviceSponge* sponge,
                          const CombineStep& step, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_TRANSCRIPT_H_
