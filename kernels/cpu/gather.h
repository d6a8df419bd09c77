// Sparse matrix times witness: the rows A*w and B*w of an R1CS, in compressed sparse row form.
//
// Thread safety: pure functions of their arguments. Time depends on the matrix, not on the witness.

#ifndef PROOFMILL_KERNELS_CPU_GATHER_H_
#define PROOFMILL_KERNELS_CPU_GATHER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// Row i holds entries row_offsets[i] .. row_offsets[i + 1] - 1 of `columns` and `values`, in any order; a
// column may repeat in a row, and its values then add up. The view owns nothing.
struct CsrView {
  const uint64_t* row_offsets;  // rows + 1 of them, ascending, the first 0
  const uint32_t* columns;
  // v * R^2 mod r for the coefficient v, as a .zkey stores it, taken by Fr::FromMontgomery. One product with
  // a plain witness value w then gives v * w in Montgomery form.
  const Fr* values;
  size_t rows;
};

// out[i] = sum over row i of v_j * w[column_j], in Montgomery form, for every row. Multi-threaded; rows may
// be of any length. REQUIRES: every column is below the length of `witness_plain`, every witness value is
// below r.
void GatherRows(const CsrView& matrix, const U256* witness_plain, Fr* out);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_GATHER_H_
