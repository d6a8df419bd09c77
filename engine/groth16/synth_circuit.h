// The synthetic circuits behind synth.h: every constraint and every value is computed from seeds on demand.
//
// Wires: 0 is one; 1 .. n_public are public inputs; two private inputs follow; constraint i defines wire
// first_output + i. Constraints by i:
//   dense   (x0*w[o-2] + x1*w[any]) * (x2*w[o-1] + x3*w[any]) = w[o], the last term in half of the rows and
//           in the first rows, where it takes the inputs in turn, so that they are in B.
//   bits    a period of 20 rows: 10 free bits, w[o]*(1 - w[o]) = 0; 8 exclusive ors,
//           (1 - 2x)*(1 - 2y) = 1 - 2*w[o]; 2 dense rows on the dense wire before. Free bits and dense wires
//           are in B; of the exclusive ors one in six, so that a third of all wires is not.
//
// Thread safety: immutable.

#ifndef PROOFMILL_ENGINE_GROTH16_SYNTH_CIRCUIT_H_
#define PROOFMILL_ENGINE_GROTH16_SYNTH_CIRCUIT_H_

#include <cstdint>
#include <vector>

#include "engine/formats/wtns.h"
#include "engine/groth16/constraint_system.h"
#include "engine/groth16/synth.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

class SynthCircuit final : public ConstraintSystem {
 public:
  // REQUIRES: the bounds of synth.h.
  explicit SynthCircuit(const SynthOptions& options);

  uint32_t n_wires() const override { return first_output_ + n_constraints_; }
  uint32_t n_public() const override { return n_public_; }
  uint32_t n_constraints() const override { return n_constraints_; }
  void Row(uint32_t i, ConstraintRow& row) const override;

  // A satisfying witness; the inputs and free bits come from the seed.
  Witness Solve(uint64_t witness_seed) const;

 private:
  enum class Gate { kDense, kFreeBit, kXor };
  Gate GateOf(uint32_t i) const;
  uint64_t Random(uint32_t i, uint64_t purpose) const;
  kernels::Fr Coefficient(uint32_t i, uint64_t term) const;

  uint32_t Output(uint32_t i) const { return first_output_ + i; }
  uint32_t AnyWireBefore(uint32_t i, uint64_t purpose, uint32_t taken) const;
  uint32_t AnyBitBefore(uint32_t i, uint64_t purpose) const;
  uint32_t SecondOperand(uint32_t i) const;
  void DenseRow(uint32_t i, ConstraintRow& row) const;
  void DenseRowAmongBits(uint32_t i, ConstraintRow& row) const;
  void XorRow(uint32_t i, ConstraintRow& row) const;
  void FreeBitRow(uint32_t i, ConstraintRow& row) const;

  const SynthProfile profile_;
  const uint64_t seed_;
  const uint32_t n_public_;
  const uint32_t n_constraints_;
  const uint32_t first_output_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SYNTH_CIRCUIT_H_
