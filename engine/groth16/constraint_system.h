// A constraint system as the set-up sees it: rows on demand. An .r1cs in memory is one; a synthetic circuit
// computes its rows from a seed and never holds them.

#ifndef PROOFMILL_ENGINE_GROTH16_CONSTRAINT_SYSTEM_H_
#define PROOFMILL_ENGINE_GROTH16_CONSTRAINT_SYSTEM_H_

#include <cstdint>
#include <vector>

#include "engine/formats/r1cs.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

struct LinearTerm {
  uint32_t wire;
  kernels::Fr value;
};

// One constraint: a * b = c.
struct ConstraintRow {
  std::vector<LinearTerm> a, b, c;
  void Clear() {
    a.clear();
    b.clear();
    c.clear();
  }
};

// Thread safety: const methods from any thread.
class ConstraintSystem {
 public:
  virtual ~ConstraintSystem() = default;
  virtual uint32_t n_wires() const = 0;   // the constant wire included
  virtual uint32_t n_public() const = 0;  // the constant wire not counted; below n_wires
  virtual uint32_t n_constraints() const = 0;
  // Fills `row`, whose memory is reused. REQUIRES: i < n_constraints().
  virtual void Row(uint32_t i, ConstraintRow& row) const = 0;
};

// A view of an .r1cs. REQUIRES: it outlives this.
class R1csConstraints final : public ConstraintSystem {
 public:
  explicit R1csConstraints(const R1cs& r1cs) : r1cs_(r1cs) {}
  uint32_t n_wires() const override { return r1cs_.n_wires; }
  uint32_t n_public() const override { return r1cs_.n_public(); }
  uint32_t n_constraints() const override { return r1cs_.n_constraints; }
  void Row(uint32_t i, ConstraintRow& row) const override;

 private:
  const R1cs& r1cs_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_CONSTRAINT_SYSTEM_H_
