#include "engine/groth16/constraint_system.h"

#include "engine/formats/r1cs.h"

namespace proofmill::engine {
namespace {

void CopyRow(const R1csMatrix& matrix, uint32_t i, std::vector<LinearTerm>& out) {
  for (uint64_t k = matrix.row_offsets[i]; k < matrix.row_offsets[i + 1]; ++k) {
    out.push_back({matrix.wires[k], matrix.values[k]});
  }
}

}  // namespace

void R1csConstraints::Row(uint32_t i, ConstraintRow& row) const {
  row.Clear();
  CopyRow(r1cs_.a, i, row.a);
  CopyRow(r1cs_.b, i, row.b);
  CopyRow(r1cs_.c, i, row.c);
}

}  // namespace proofmill::engine
