// Fr, the scalar field of BN254: witness values, NTT values and MSM scalars live here.
// r = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001, two-adicity 28.

#ifndef PROOFMILL_KERNELS_FIELD_BN254_FR_H_
#define PROOFMILL_KERNELS_FIELD_BN254_FR_H_

#include <cstdint>

#include "kernels/field/limbs.h"
#include "kernels/field/montgomery.h"

namespace proofmill::kernels {

struct FrParams {
  static constexpr U256 kModulus{
      {0x43e1f593f0000001ull, 0x2833e84879b97091ull, 0xb85045b68181585dull, 0x30644e72e131a029ull}};
  static constexpr U256 kR{
      {0xac96341c4ffffffbull, 0x36fc76959f60cd29ull, 0x666ea36f7879462eull, 0x0e0a77c19a07df2full}};
  static constexpr U256 kR2{
      {0x1bb8e645ae216da7ull, 0x53fe3ab1e35c59e3ull, 0x8c49833d53bb8085ull, 0x0216d0b17f4e44a5ull}};
  static constexpr uint64_t kNegInverse = 0xc2e1f593efffffffull;
};
using Fr = MontgomeryField<FrParams>;

inline constexpr uint32_t kFrTwoAdicity = 28;
// 5^((r-1)/2^28), the primitive 2^28-th root of unity that snarkjs uses. Another root of the same order does
// not fit the points of a .zkey's section 9.
inline constexpr U256 kFrRootOfUnityPlain{
    {0x9bd61b6e725b19f0ull, 0x402d111e41112ed4ull, 0x00e0a7eb8ef62abcull, 0x2a3c09f0a58a7e85ull}};

// The primitive 2^log2_n-th root of unity w with w^(2^(28 - log2_n)) taken from the root above. REQUIRES:
// log2_n <= 28.
constexpr Fr FrRootOfUnity(uint32_t log2_n) {
  Fr root = Fr::FromPlain(kFrRootOfUnityPlain);
  for (uint32_t i = log2_n; i < kFrTwoAdicity; ++i) root = root.Square();
  return root;
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_BN254_FR_H_
