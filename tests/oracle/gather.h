// A sparse matrix as a list of terms, multiplied out one by one on plain integers: the oracle of
// GatherRows().

#ifndef PROOFMILL_TESTS_ORACLE_GATHER_H_
#define PROOFMILL_TESTS_ORACLE_GATHER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/field/limbs.h"
#include "tests/oracle/modular.h"

namespace proofmill::oracle {

struct Term {
  size_t row;
  uint32_t column;
  U256 coefficient;  // plain, below p
};

// For every row the plain sum of coefficient * witness[column] modulo p.
inline std::vector<U256> Gather(const std::vector<Term>& terms, const std::vector<U256>& witness, size_t rows,
                                const U256& p) {
  std::vector<U256> out(rows);
  for (const Term& term : terms) {
    out[term.row] = AddModulo(out[term.row], MulModulo(term.coefficient, witness[term.column], p), p);
  }
  return out;
}

}  // namespace proofmill::oracle

#endif  // PROOFMILL_TESTS_ORACLE_GATHER_H_
