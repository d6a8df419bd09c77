// Fq, the base field of BN254: coordinates of G1 points.
// q = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47.

#ifndef PROOFMILL_KERNELS_FIELD_BN254_FQ_H_
#define PROOFMILL_KERNELS_FIELD_BN254_FQ_H_

#include "kernels/field/limbs.h"
#include "kernels/field/montgomery.h"

namespace proofmill::kernels {

struct FqParams {
  static constexpr U256 kModulus{
      {0x3c208c16d87cfd47ull, 0x97816a916871ca8dull, 0xb85045b68181585dull, 0x30644e72e131a029ull}};
  static constexpr U256 kR{
      {0xd35d438dc58f0d9dull, 0x0a78eb28f5c70b3dull, 0x666ea36f7879462cull, 0x0e0a77c19a07df2full}};
  static constexpr U256 kR2{
      {0xf32cfc5b538afa89ull, 0xb5e71911d44501fbull, 0x47ab1eff0a417ff6ull, 0x06d89f71cab8351full}};
  static constexpr uint64_t kNegInverse = 0x87d20782e4866389ull;
};
using Fq = MontgomeryField<FqParams>;

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_BN254_FQ_H_
