// Sums of products in Fq2 = Fq[u] / (u^2 + 1) with one reduction, on the types of montgomery_ifma.h. The face
// is that of extension_fma.h.

#ifndef PROOFMILL_KERNELS_FIELD_EXTENSION_IFMA_H_
#define PROOFMILL_KERNELS_FIELD_EXTENSION_IFMA_H_

#include <cstdint>

#include "kernels/field/montgomery_ifma.h"

namespace proofmill::kernels::ifma {

template <typename Params, uint32_t kBound>
struct ExtensionFactor {
  Tight<Params, kBound> part[3];

  ExtensionFactor() = default;  // uninitialised
  PROOFMILL_IFMA_INLINE ExtensionFactor(const Tight<Params, kBound>& c0, const Tight<Params, kBound>& c1)
      : part{c1, c0, Tighten(Negate(c1))} {}
};

template <typename Params, uint32_t kX, uint32_t kY>
PROOFMILL_IFMA_INLINE void AddProduct(Vector* t, const Tight<Params, kX>& x, const Tight<Params, kY>& y) {
#pragma GCC unroll 5
  for (int i = 0; i < kLimbs; ++i) {
#pragma GCC unroll 5
    for (int j = 0; j < kLimbs; ++j) t[i + j] = MulLow(t[i + j], x.limb[j], y.limb[i]);
#pragma GCC unroll 5
    for (int j = 0; j < kLimbs; ++j) t[i + j + 1] = MulHigh(t[i + j + 1], x.limb[j], y.limb[i]);
  }
}

// The sum of two products each with x, y and z. Limbs come to 10 * 6 + 10 units of 2^52 here, more than those
// of a Wide and a Loose, but below 2^63: so Reduce() and Tighten() take them. The reduction's bound is that
// of Wide.
template <typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kBound>
[[gnu::noinline]] Tight<Params, 2> SumOfSixProducts(
    const Tight<Params, kA>* a, const Tight<Params, kBound>* x, const Tight<Params, kB>* b,
    const Tight<Params, kBound>* y, const Tight<Params, kC>* c, const Tight<Params, kBound>* z) {
  Wide<Params, 2 * kBound*(kA + kB + kC), 3> sum;
  for (Vector& limb : sum.limb) limb = _mm512_setzero_si512();
  AddProduct(sum.limb, a[0], x[0]);
  AddProduct(sum.limb, a[1], x[1]);
  AddProduct(sum.limb, b[0], y[0]);
  AddProduct(sum.limb, b[1], y[1]);
  AddProduct(sum.limb, c[0], z[0]);
  AddProduct(sum.limb, c[1], z[1]);
  return Tighten(Reduce(sum));
}

template <int kPart, typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kBound>
PROOFMILL_IFMA_INLINE Tight<Params, 2> SumOfExtensionProducts(const ExtensionFactor<Params, kA>& a,
                                                              const Tight<Params, kBound>* x,
                                                              const ExtensionFactor<Params, kB>& b,
                                                              const Tight<Params, kBound>* y,
                                                              const ExtensionFactor<Params, kC>& c,
                                                              const Tight<Params, kBound>* z) {
  constexpr int kFirst = 1 - kPart;
  return SumOfSixProducts(a.part + kFirst, x, b.part + kFirst, y, c.part + kFirst, z);
}

}  // namespace proofmill::kernels::ifma

#endif  // PROOFMILL_KERNELS_FIELD_EXTENSION_IFMA_H_
