// Inverses for code that may take a time that depends on the values: about three quarters of the time of
// MontgomeryField::Inverse().

#ifndef PROOFMILL_KERNELS_FIELD_INVERSE_H_
#define PROOFMILL_KERNELS_FIELD_INVERSE_H_

#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/montgomery.h"

namespace proofmill::kernels {

// 1 / x; 0 gives 0. By the steps of Bernstein and Yang ("Fast constant-time gcd computation and modular
// inversion", 2019), taken as many at a time as the trailing zeros allow.
template <typename Params>
MontgomeryField<Params> InverseVartime(const MontgomeryField<Params>& x);
extern template Fq InverseVartime(const Fq&);
extern template Fr InverseVartime(const Fr&);

inline Fq2 InverseVartime(const Fq2& x) {
  const Fq norm_inverse = InverseVartime(x.c0.Square() + x.c1.Square());
  return {x.c0 * norm_inverse, -(x.c1 * norm_inverse)};
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_INVERSE_H_
