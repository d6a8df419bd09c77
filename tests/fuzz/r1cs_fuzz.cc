// Constraint systems: what is accepted has consistent rows and wires in range.

#include "engine/formats/r1cs.h"

#include "tests/fuzz/fuzz_input.h"

namespace proofmill::engine {
namespace {

void RequireConsistent(const R1csMatrix& matrix, const R1cs& r1cs) {
  Require(matrix.row_offsets.size() == size_t{r1cs.n_constraints} + 1 && matrix.row_offsets[0] == 0);
  for (size_t row = 0; row < r1cs.n_constraints; ++row) {
    Require(matrix.row_offsets[row] <= matrix.row_offsets[row + 1]);
  }
  Require(matrix.row_offsets[r1cs.n_constraints] == matrix.wires.size());
  Require(matrix.wires.size() == matrix.values.size());
  for (const uint32_t wire : matrix.wires) Require(wire < r1cs.n_wires);
}

}  // namespace
}  // namespace proofmill::engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const auto r1cs = ReadR1cs(FuzzSource(data, size));
  if (!r1cs.ok()) {
    RequireInputError(r1cs.status());
    return 0;
  }
  Require(r1cs->n_public() < r1cs->n_wires);
  RequireConsistent(r1cs->a, *r1cs);
  RequireConsistent(r1cs->b, *r1cs);
  RequireConsistent(r1cs->c, *r1cs);
  return 0;
}
