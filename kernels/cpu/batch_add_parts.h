// The parts of batch addition as they see each other: batch_add_ifma.cc and batch_add_fma.cc, compiled for
// what their names say, and batch_add.cc, compiled for any CPU, which does the rare cases. Included by these
// alone.

#ifndef PROOFMILL_KERNELS_CPU_BATCH_ADD_PARTS_H_
#define PROOFMILL_KERNELS_CPU_BATCH_ADD_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"

namespace proofmill::kernels {

struct PointPair;

// Inverses of denominators are handed over as 2^kInverseLog2Factor times what the field says.
inline constexpr uint32_t kInverseLog2Factor = 6;

// In batch_add.cc. Replaces each of kLanes elements by its scaled inverse. REQUIRES: none is zero.
template <size_t kLanes, typename F>
void InvertLanes(F* lanes);
// The denominator of the slope of a + b, or 1 if it has none.
template <typename F>
void SlopeDenominatorOf(const Affine<F>& a, const Affine<F>& b, F& out);
// out = a + b, given the scaled inverse of the above. `out` may be `a` or `b`.
template <typename F>
void AddOf(const Affine<F>& a, const Affine<F>& b, const F& scaled_inverse, Affine<F>& out);

// In batch_add_ifma.cc and batch_add_fma.cc. As PairAdder::Add(); `products` is 64-byte aligned scratch for n
// elements, rounded up to eight. REQUIRES: n > 0, Supported() of Arithmetic::kIfma or kFma.
namespace ifma {
template <typename F>
void AddPairs(Affine<F>* points, const PointPair* pairs, size_t n, void* products);
template <>
void AddPairs(Affine<Fq>* points, const PointPair* pairs, size_t n, void* products);
template <>
void AddPairs(Affine<Fq2>* points, const PointPair* pairs, size_t n, void* products);
}  // namespace ifma
namespace fma {
template <typename F>
void AddPairs(Affine<F>* points, const PointPair* pairs, size_t n, void* products);
template <>
void AddPairs(Affine<Fq>* points, const PointPair* pairs, size_t n, void* products);
template <>
void AddPairs(Affine<Fq2>* points, const PointPair* pairs, size_t n, void* products);
}  // namespace fma

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_BATCH_ADD_PARTS_H_
