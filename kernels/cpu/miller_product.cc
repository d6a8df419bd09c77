#include "kernels/cpu/miller_product.h"

namespace proofmill::kernels {

CheckedMiller MillerProduct(const PairingTerm* terms, size_t n) { return CheckedMillerLoopProduct(terms, n); }

}  // namespace proofmill::kernels
