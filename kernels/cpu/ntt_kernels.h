// The inner loops of NttDomain: one set of functions for each kind of arithmetic, over the same network of
// butterflies (ntt.cc). Between the steps of one transform the elements may be any integers below 2^256 that
// are right modulo r; the last step gives canonical ones.

#ifndef PROOFMILL_KERNELS_CPU_NTT_KERNELS_H_
#define PROOFMILL_KERNELS_CPU_NTT_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// What the factors of all butterflies are taken from, each times the factor_scale of the kernels.
struct NttFactors {
  const Fr* twiddles;  // as NttDomain keeps them
  Fr minus_one;
};

// The coset scaling of the element at place p: high[p >> low_bits] * low[p's low bits], both times
// factor_scale.
struct NttCoset {
  const Fr* high;
  const Fr* low;
  uint32_t low_bits;
};

// Block number `block` of its level: the 2^log2_size elements at `values`.
struct NttBlock {
  Fr* values;
  uint32_t log2_size;
  size_t block;
};

struct NttKernels {
  // By what constant factors are multiplied: products of these kernels are a * b / (2^256 * factor_scale).
  uint64_t factor_scale;
  // The sizes of blocks that are a leaf; one below the least is split no further either.
  uint32_t leaf_log2;
  // The most levels that one pass over the columns of a block works on.
  uint32_t pass_levels_max;

  // The first `levels` levels of a block (inverse), or the last ones (forward), on columns [begin, end):
  // elements whose index modulo the number of columns, 2^(log2_size - levels), is in the range. `last`: the
  // results are the results of the transform. REQUIRES: begin and end are multiples of 8 or of the number of
  // columns.
  void (*inverse_pass)(const NttFactors& factors, const NttBlock& block, uint32_t levels, size_t begin,
                       size_t end);
  void (*forward_pass)(const NttFactors& factors, const NttBlock& block, uint32_t levels, bool last,
                       size_t begin, size_t end);

  // All levels of a leaf.
  void (*inverse_leaf)(const NttFactors& factors, const NttBlock& block);
  void (*forward_leaf)(const NttFactors& factors, const NttBlock& block, bool last);
  // inverse_leaf(), the coset scaling, forward_leaf(). The leaf starts at place block * 2^log2_size.
  void (*coset_leaf)(const NttFactors& factors, const NttCoset& coset, const NttBlock& block, bool last);

  // The coset scaling alone, of the n elements from place `begin` on; canonical. REQUIRES: begin and n are
  // multiples of 8, or the domain is smaller.
  void (*scale)(const NttCoset& coset, size_t begin, size_t n, Fr* values);
};

extern const NttKernels kScalarNttKernels;
#if defined(__x86_64__)
// For domains of at least a leaf.
extern const NttKernels kIfmaNttKernels;
extern const NttKernels kFmaNttKernels;
#endif

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_NTT_KERNELS_H_
