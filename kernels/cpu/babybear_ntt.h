// The number-theoretic transform of BabyBear columns, from coefficients in natural order to values in
// bit-reversed order: what encodes a polynomial as a Reed-Solomon word.
//
// A block is a polynomial modulo X^m - s^2, and a layer splits it into those modulo X^(m/2) - s and X^(m/2) +
// s, with one factor s for a whole block. Twiddles are therefore one table for all sizes, indexed by the
// block; and a word padded with zeros to 2^r times its length is 2^r copies of it, transformed as the blocks
// of layer r.
//
// Thread safety: immutable after construction; Encode() uses all threads of the current arena. The object
// keeps the arithmetic under which it was made (kernels/field/arithmetic.h).

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_NTT_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_NTT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/babybear_kernels.h"

namespace proofmill::kernels {

class BabyBearNtt {
 public:
  // For heights up to 2^log2_height_max. REQUIRES: log2_height_max <= 27.
  explicit BabyBearNtt(uint32_t log2_height_max);

  // A vector of `planes` planes of 2^log2_length words; plane i begins at data + i * stride.
  struct Input {
    const uint32_t* data;
    size_t stride;
    size_t planes;
    uint32_t log2_length;
  };
  // Cuts the vector into 2^log2_columns columns, pads each with zeros to 2^log2_height words and transforms
  // it: column c * planes + i of `out`, of 2^log2_height words, gets at place (bits of j reversed)
  //   sum over t of (word c * m + t of plane i) * g^(j * t),  m = 2^(log2_length - log2_columns),
  // g being the generator of order 2^log2_height. REQUIRES: log2_columns <= log2_length, and
  // log2_length - log2_columns <= log2_height <= log2_height_max.
  void Encode(const Input& in, uint32_t log2_columns, uint32_t log2_height, uint32_t* out) const;

  // Of the tables.
  size_t size_bytes() const { return (blocks_.size() + tails_.size()) * sizeof(uint32_t); }

 private:
  // Transforms block `block` of 2^log2_size words at `data`.
  void TransformBlock(uint32_t* data, uint32_t log2_size, size_t block) const;
  // The same on all threads.
  void TransformLargeBlock(uint32_t* data, uint32_t log2_size, size_t block) const;

  const BabyBearKernels& kernels_;
  uint32_t log2_tail_;  // of the smallest block that the kernels take
  std::vector<uint32_t> blocks_;
  std::vector<uint32_t> tails_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_NTT_H_
