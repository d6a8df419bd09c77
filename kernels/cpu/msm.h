// Multi-scalar multiplication by buckets (Pippenger), and many multiples of one base.
//
// Variable time by nature: which points are added depends on the scalars, which are a witness. Do not use
// these where an attacker can time a single call. The scratch memory that depends on scalars is wiped before
// it is freed.
//
// Results are exact for every input: infinite, equal and opposite bases, zero and repeated scalars.
// Thread safety: pure functions and an immutable table; each call uses all threads of the current arena.

#ifndef PROOFMILL_KERNELS_CPU_MSM_H_
#define PROOFMILL_KERNELS_CPU_MSM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/signed_digits.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

struct MsmOptions {
  // Bits a window; 0 chooses by the number of scalars. Otherwise 2..16 (tests and measurements).
  uint32_t window_bits = 0;
};

// The sum of scalars[index[i]] * bases[i] for i < n, or of scalars[i] * bases[i] when `index` is null.
// Scalars are plain integers. REQUIRES: n < 2^31, the scalars used are below r, the bases are on the curve
// (anywhere on it: G2's subgroup is not needed).
template <typename F>
Xyzz<F> Msm(const Affine<F>* bases, const U256* scalars_plain, const uint32_t* index, size_t n,
            const MsmOptions& options = {});

extern template Xyzz<Fq> Msm(const Affine<Fq>*, const U256*, const uint32_t*, size_t, const MsmOptions&);
extern template Xyzz<Fq2> Msm(const Affine<Fq2>*, const U256*, const uint32_t*, size_t, const MsmOptions&);

// The sums before the last step of Msm(): sums[w] = the sum of d_iw * bases[i], where d_iw is digit w of
// scalars[i] by SignedDigits(window_bits, scalar_bits) (signed_digits.h), for all its windows. REQUIRES: n <
// 2^31, every scalar is below 2^scalar_bits, scalar_bits <= 254, 2 <= window_bits <= 16; bases as for Msm().
template <typename F>
std::vector<Xyzz<F>> MsmWindowSums(const Affine<F>* bases, const U256* scalars, size_t n,
                                   uint32_t window_bits, uint32_t scalar_bits);

extern template std::vector<Xyzz<Fq2>> MsmWindowSums(const Affine<Fq2>*, const U256*, size_t, uint32_t,
                                                     uint32_t);

// Precomputed multiples of one base, for the many multiples that a set-up needs.
template <typename F>
class FixedBaseTable {
 public:
  // About 1 MiB (G1) or 2 MiB (G2). REQUIRES: `base` is on the curve, and of order r or infinity.
  explicit FixedBaseTable(const Affine<F>& base);

  // out[i] = scalars[i] * base for i < n. Multi-threaded.
  void Multiply(const Fr* scalars, Affine<F>* out, size_t n) const;

  // How the table cuts a scalar, and what it holds, for those who take it elsewhere: multiple d of window w,
  // that is d * 2^(w * window_bits) * base for d from 1 to digit_max, at w * digit_max + d - 1.
  static SignedDigits Digits();
  const std::vector<Affine<F>>& multiples() const { return multiples_; }

 private:
  std::vector<Affine<F>> multiples_;
};

extern template class FixedBaseTable<Fq>;
extern template class FixedBaseTable<Fq2>;

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_MSM_H_
