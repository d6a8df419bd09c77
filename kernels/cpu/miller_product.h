// The Miller loops of many pairs side by side: eight on CPUs with AVX-512 IFMA, four on those with AVX2 and
// FMA.
//
// Thread safety: a pure function on the caller's thread.

#ifndef PROOFMILL_KERNELS_CPU_MILLER_PRODUCT_H_
#define PROOFMILL_KERNELS_CPU_MILLER_PRODUCT_H_

#include <cstddef>

#include "kernels/curve/pairing.h"

namespace proofmill::kernels {

// CheckedMillerLoopProduct(); its value may be another, but FinalExponentiation() makes the same of both.
// Throws std::bad_alloc. REQUIRES: each p is in G1 and each q on the twist.
CheckedMiller MillerProduct(const PairingTerm* terms, size_t n);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_MILLER_PRODUCT_H_
