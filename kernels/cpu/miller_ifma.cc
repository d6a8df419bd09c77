#include "kernels/cpu/miller_lanes.h"

namespace proofmill::kernels::ifma {

bool MillerProducts(const MillerPair* pairs, size_t n, const NonAdjacentForm& loop, const Fq2& b,
                    Fq12* products) {
  return MillerLanes(pairs, n, b).Run(loop, products);
}

}  // namespace proofmill::kernels::ifma
