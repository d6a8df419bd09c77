// Number-theoretic transforms over Fr on the 2^log2_n-th roots of unity that snarkjs uses, in place and
// multi-threaded.
//
// The H polynomial of a Groth16 proof needs no reordering pass: ValuesToCoset() takes values on the domain
// (natural order) to values of the same polynomial on the coset (natural order), as InverseToBitReversed(),
// ScaleToCosetFromBitReversed() and ForwardFromBitReversed() do one after another.
//
// "Bit-reversed": element i stands at the place whose log2_n-bit index is i read backwards.
// Thread safety: immutable after construction; any thread may use it, on vectors of its own. Time depends on
// the size alone, not on the values.

#ifndef PROOFMILL_KERNELS_CPU_NTT_H_
#define PROOFMILL_KERNELS_CPU_NTT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/ntt_kernels.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// The g of ScaleToCosetFromBitReversed(): w_{2n}, or 25 when log2_n is 28, where Fr has no 2n-th root of
// unity.
Fr CosetShift(uint32_t log2_n);

class NttDomain {
 public:
  // Makes the tables: 16 bytes an element of the domain. Transforms use the CurrentArithmetic() of this call.
  // REQUIRES: log2_n <= 28.
  explicit NttDomain(uint32_t log2_n);

  size_t size() const { return size_t{1} << log2_n_; }
  uint32_t log2_size() const { return log2_n_; }

  // Values on w^0, w^1, ... in natural order become the polynomial's coefficients times n, bit-reversed.
  void InverseToBitReversed(Fr* values) const;
  // Coefficient i (at its bit-reversed place) is multiplied by g^i / n, g = CosetShift(log2_n).
  void ScaleToCosetFromBitReversed(Fr* values) const;
  // Coefficients in bit-reversed order become values on w^0, w^1, ... in natural order.
  void ForwardFromBitReversed(Fr* values) const;

  // The three steps above in one go, each block of the vector worked through while it is in cache.
  void ValuesToCoset(Fr* values) const;

  // Coefficients to values and back, both in natural order; Inverse() includes the factor 1/n.
  void Forward(Fr* values) const;
  void Inverse(Fr* values) const;

 private:
  enum class Transform;
  struct Walk;

  NttCoset coset() const { return {coset_high_.data(), coset_low_.data(), low_bits_}; }
  void Run(Transform transform, Fr* values) const;

  const uint32_t log2_n_;
  const NttKernels& kernels_;
  const uint32_t low_bits_;
  // All constants below are times kernels_.factor_scale.
  const Fr minus_one_;
  // w_n^(b read backwards in log2_n - 1 bits) at place b < n/2: the first 2^k of them are the factors of the
  // blocks of level k, whatever n is.
  std::vector<Fr> twiddles_;
  // g^i / n for the coefficient at place p is coset_high_[p >> low_bits_] * coset_low_[its low bits].
  std::vector<Fr> coset_high_;
  std::vector<Fr> coset_low_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_NTT_H_
