// The sum of scalar * base, one double-and-add after another: the oracle of the multi-scalar multiplication.

#ifndef PROOFMILL_TESTS_ORACLE_MSM_H_
#define PROOFMILL_TESTS_ORACLE_MSM_H_

#include <cstddef>
#include <cstdint>

#include "kernels/curve/weierstrass.h"
#include "kernels/field/limbs.h"

namespace proofmill::oracle {

// The sum of scalars[index[i]] * bases[i], or scalars[i] * bases[i] when `index` is null. Any 256-bit
// scalars.
template <typename F>
kernels::Xyzz<F> Msm(const kernels::Affine<F>* bases, const kernels::U256* scalars, const uint32_t* index,
                     size_t n) {
  kernels::Xyzz<F> sum = kernels::Xyzz<F>::Infinity();
  for (size_t i = 0; i < n; ++i) {
    const kernels::U256& scalar = scalars[index == nullptr ? i : index[i]];
    kernels::Xyzz<F> product = kernels::Xyzz<F>::Infinity();
    for (size_t bit = 256; bit-- > 0;) {
      product = product.Double();
      if (scalar.Bit(bit) != 0) product = product + bases[i];
    }
    sum = sum + product;
  }
  return sum;
}

}  // namespace proofmill::oracle

#endif  // PROOFMILL_TESTS_ORACLE_MSM_H_
