// One multiple of one point, on the thread that asks for it. Many multiples of a base: FixedBaseTable of
// msm.h; sums of multiples: Msm().
//
// Scalars are secrets: what is derived from them is wiped, but time and memory accesses depend on them, as
// everywhere in this library. Nothing but the making of a table allocates or throws. Thread safety: pure
// functions and immutable objects.

#ifndef PROOFMILL_KERNELS_CPU_SCALAR_MUL_H_
#define PROOFMILL_KERNELS_CPU_SCALAR_MUL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// scalar * p by signed windows of 5 bits: 250 doublings and 67 additions.
template <typename F>
Xyzz<F> ScalarMul(const Xyzz<F>& p, const Fr& scalar);

// The scalar low + high * lambda, lambda a cube root of one mod r: G1 has an endomorphism that multiplies by
// lambda and costs one product in Fq, so that a multiple takes 64 doublings. Pairs of 64-bit numbers give
// different scalars: the shortest vector of the lattice {(a, b): a + b * lambda = 0 mod r} has 127 bits.
struct SplitScalar {
  uint64_t low;
  uint64_t high;

  Fr ToFr() const;
};

// Time depends on these scalars, which are not wiped: for those that are no secret. REQUIRES: the points are
// in G1; n is at most kFewPointsMax.
inline constexpr size_t kFewPointsMax = 16;
// The sum of scalars[i] * points[i] for i < n, with one chain of doublings for all.
G1Xyzz SumOfFew(const G1Affine* points, const SplitScalar* scalars, size_t n);
// out[i] = scalars[i] * points[i] for i < n, with one inversion for all. `out` may be `points`.
void MultiplyEach(const G1Affine* points, const SplitScalar* scalars, size_t n, G1Affine* out);

// The multiples 1, ..., 16 of 2^(5w) * base for all windows w: 53 KB (G1) or 106 KB (G2), made in about
// 0.3 (0.9) ms.
template <typename F>
class WindowTable {
 public:
  // REQUIRES: `base` is on the curve, and of odd order.
  explicit WindowTable(const Affine<F>& base);

  // scalar * base by at most 51 mixed additions: an eighth of the time of ScalarMul().
  Xyzz<F> Times(const Fr& scalar) const;

 private:
  std::vector<Affine<F>> multiples_;
};

// scalar * point, by `table` if there is one, which is of `point`; it may be null. As for ScalarMul().
template <typename F>
Xyzz<F> ScalarMulBy(const WindowTable<F>* table, const Affine<F>& point, const Fr& scalar) {
  return table != nullptr ? table->Times(scalar) : ScalarMul(Xyzz<F>::FromAffine(point), scalar);
}

extern template Xyzz<Fq> ScalarMul(const Xyzz<Fq>&, const Fr&);
extern template Xyzz<Fq2> ScalarMul(const Xyzz<Fq2>&, const Fr&);
extern template class WindowTable<Fq>;
extern template class WindowTable<Fq2>;

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_SCALAR_MUL_H_
