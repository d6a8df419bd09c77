#include "kernels/cpu/miller_lanes.h"

namespace proofmill::kernels::fma {
namespace {

[[gnu::noinline]] bool MillerProductsRounded(const MillerPair* pairs, size_t n, const NonAdjacentForm& loop,
                                             const Fq2& b, Fq12* products) {
  return MillerLanes(pairs, n, b).Run(loop, products);
}

}  // namespace

bool MillerProducts(const MillerPair* pairs, size_t n, const NonAdjacentForm& loop, const Fq2& b,
                    Fq12* products) {
  const RoundTowardZero rounding;
  return MillerProductsRounded(pairs, n, loop, b, products);
}

}  // namespace proofmill::kernels::fma
