// Sums of products in Fq2 = Fq[u] / (u^2 + 1) with one reduction, on the types of montgomery_fma.h.

#ifndef PROOFMILL_KERNELS_FIELD_EXTENSION_FMA_H_
#define PROOFMILL_KERNELS_FIELD_EXTENSION_FMA_H_

#include <cstdint>

#include "kernels/field/montgomery_fma.h"

namespace proofmill::kernels::fma {

// A number as the factor of many sums: c1, c0 and -c1. What it adds to a sum is c1*d0 + c0*d1 to the part of
// u, and c0*d0 - c1*d1 to the other one: products with two in succession.
template <typename Params, uint32_t kBound>
struct ExtensionFactor {
  Doubles part[3][kLimbs];

  ExtensionFactor() = default;  // uninitialised
  PROOFMILL_FMA_INLINE ExtensionFactor(const Tight<Params, kBound>& c0, const Tight<Params, kBound>& c1) {
    const Tight<Params, kBound> minus_c1 = Tighten(Negate(c1));
    for (int j = 0; j < kLimbs; ++j) {
      part[0][j] = ToDoubles(c1.limb[j]);
      part[1][j] = ToDoubles(c0.limb[j]);
      part[2][j] = ToDoubles(minus_c1.limb[j]);
    }
  }
};

// The part of u (where kPart is 1) or the other one (0) of a*x + b*y + c*z, over 2^260 and mod p; x, y and z
// point to two numbers in succession.
template <int kPart, typename Params, uint32_t kA, uint32_t kB, uint32_t kC, uint32_t kBound>
PROOFMILL_FMA_INLINE Tight<Params, 2> SumOfExtensionProducts(const ExtensionFactor<Params, kA>& a,
                                                             const Tight<Params, kBound>* x,
                                                             const ExtensionFactor<Params, kB>& b,
                                                             const Tight<Params, kBound>* y,
                                                             const ExtensionFactor<Params, kC>& c,
                                                             const Tight<Params, kBound>* z) {
  static_assert(2 * kBound * (kA + kB + kC) <= kProductBoundMax);
  constexpr int kFirst = 1 - kPart;
  Loose<Params, 2> out;
  MultiplyAddSixLimbs<Params>(a.part[kFirst], x->limb, b.part[kFirst], y->limb, c.part[kFirst], z->limb,
                              out.limb);
  return Tighten(out);
}

}  // namespace proofmill::kernels::fma

#endif  // PROOFMILL_KERNELS_FIELD_EXTENSION_FMA_H_
