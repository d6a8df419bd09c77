// Arithmetic modulo p on plain integers, bit by bit: the oracle of the Montgomery fields. Shares nothing with
// them but the type U256.

#ifndef PROOFMILL_TESTS_ORACLE_MODULAR_H_
#define PROOFMILL_TESTS_ORACLE_MODULAR_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::oracle {

using kernels::U256;

// Whether a >= b.
inline bool AtLeast(const U256& a, const U256& b) {
  for (size_t i = 4; i-- > 0;) {
    if (a.limb[i] != b.limb[i]) return a.limb[i] > b.limb[i];
  }
  return true;
}

// a - b for a >= b.
inline U256 Subtract(const U256& a, const U256& b) {
  U256 out;
  bool borrow = false;
  for (size_t i = 0; i < 4; ++i) {
    out.limb[i] = a.limb[i] - b.limb[i] - (borrow ? 1 : 0);
    borrow = a.limb[i] < b.limb[i] || (a.limb[i] == b.limb[i] && borrow);
  }
  return out;
}

// a + b mod p for a, b < p < 2^255.
inline U256 AddModulo(const U256& a, const U256& b, const U256& p) {
  U256 sum;
  bool carry = false;
  for (size_t i = 0; i < 4; ++i) {
    sum.limb[i] = a.limb[i] + b.limb[i] + (carry ? 1 : 0);
    carry = sum.limb[i] < a.limb[i] || (sum.limb[i] == a.limb[i] && carry);
  }
  return AtLeast(sum, p) ? Subtract(sum, p) : sum;
}

// a - b mod p for a, b < p.
inline U256 SubModulo(const U256& a, const U256& b, const U256& p) {
  return AtLeast(a, b) ? Subtract(a, b) : Subtract(p, Subtract(b, a));
}

// a * b mod p for a < p, by double and add over the bits of b.
inline U256 MulModulo(const U256& a, const U256& b, const U256& p) {
  U256 out;
  for (size_t i = 256; i-- > 0;) {
    out = AddModulo(out, out, p);
    if ((b.limb[i / 64] >> (i % 64) & 1) != 0) out = AddModulo(out, a, p);
  }
  return out;
}

}  // namespace proofmill::oracle

#endif  // PROOFMILL_TESTS_ORACLE_MODULAR_H_
