// The parts of miller_product.cc that are compiled for AVX-512 IFMA, and for AVX2 and FMA.

#ifndef PROOFMILL_KERNELS_CPU_MILLER_PARTS_H_
#define PROOFMILL_KERNELS_CPU_MILLER_PARTS_H_

#include <cstddef>

#include "kernels/curve/bn254.h"
#include "kernels/curve/non_adjacent_form.h"
#include "kernels/curve/tower.h"

namespace proofmill::kernels {

// A pair on its way through the Miller loop, and the points that are added to q at its end.
struct MillerPair {
  G1Affine p;
  G2Affine q;
  G2Affine first;   // psi(q)
  G2Affine second;  // -psi^2(q)
  G2Affine end;     // -psi^3(q), at which points of G2 arrive
};

// How many pairs they take, and into how many products these go at most.
inline constexpr size_t kMillerPairsMax = 24;
inline constexpr size_t kMillerLanesMax = 8;

// products[i] = the product of the Miller values of pairs i, i + kMillerLanes, i + 2 * kMillerLanes, ..., up
// to factors that FinalExponentiation() removes; whether all q are in G2. `loop` are the digits of 6x+2, and
// `b` is that of the twist. REQUIRES: n is a positive multiple of kMillerLanes and at most kMillerPairsMax;
// Supported() of Arithmetic::kIfma or kFma.
namespace ifma {
inline constexpr size_t kMillerLanes = 8;
bool MillerProducts(const MillerPair* pairs, size_t n, const NonAdjacentForm& loop, const Fq2& b,
                    Fq12* products);
}  // namespace ifma
namespace fma {
inline constexpr size_t kMillerLanes = 4;
bool MillerProducts(const MillerPair* pairs, size_t n, const NonAdjacentForm& loop, const Fq2& b,
                    Fq12* products);
}  // namespace fma

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_MILLER_PARTS_H_
