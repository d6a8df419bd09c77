// The groups of BN254: G1 is y^2 = x^3 + 3 over Fq (prime order r); G2 is the subgroup of order r of the
// twist y^2 = x^3 + 3/(9+u) over Fq2, whose order is r * (2q - r).

#ifndef PROOFMILL_KERNELS_CURVE_BN254_H_
#define PROOFMILL_KERNELS_CURVE_BN254_H_

#include "kernels/curve/weierstrass.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

using G1Affine = Affine<Fq>;
using G1Xyzz = Xyzz<Fq>;
using G2Affine = Affine<Fq2>;
using G2Xyzz = Xyzz<Fq2>;
static_assert(sizeof(G1Affine) == 64 && sizeof(G2Affine) == 128, "the layout of .zkey sections");

// b of y^2 = x^3 + b.
template <typename F>
struct CurveB;
template <>
struct CurveB<Fq> {
  static constexpr Fq kValue = Fq::FromMontgomery(
      U256{{0x7a17caa950ad28d7ull, 0x1f6ac17ae15521b9ull, 0x334bea4e696bd284ull, 0x2a1f6744ce179d8eull}});
};
template <>
struct CurveB<Fq2> {
  static constexpr Fq2 kValue{Fq::FromMontgomery(U256{{0x3bf938e377b802a8ull, 0x020b1b273633535dull,
                                                       0x26b7edf049755260ull, 0x2514c6324384a86dull}}),
                              Fq::FromMontgomery(U256{{0x38e7ecccd1dcff67ull, 0x65f0b37d93ce0d3eull,
                                                       0xd749d0dd22ac00aaull, 0x0141b9ce4a688d4dull}})};
};

// Whether p is infinity or satisfies the curve equation. REQUIRES: coordinates below q. Says nothing of the
// subgroup of G2.
template <typename F>
PROOFMILL_HD constexpr bool IsOnCurve(const Affine<F>& p) {
  return p.IsInfinity() || p.y.Square() == p.x.Square() * p.x + CurveB<F>::kValue;
}

// The generators that snarkjs, EIP-196 and EIP-197 use.
inline constexpr G1Affine kG1Generator{
    Fq::FromMontgomery(
        U256{{0xd35d438dc58f0d9dull, 0x0a78eb28f5c70b3dull, 0x666ea36f7879462cull, 0x0e0a77c19a07df2full}}),
    Fq::FromMontgomery(
        U256{{0xa6ba871b8b1e1b3aull, 0x14f1d651eb8e167bull, 0xccdd46def0f28c58ull, 0x1c14ef83340fbe5eull}})};
inline constexpr G2Affine kG2Generator{
    {Fq::FromMontgomery(
         U256{{0x8e83b5d102bc2026ull, 0xdceb1935497b0172ull, 0xfbb8264797811adfull, 0x19573841af96503bull}}),
     Fq::FromMontgomery(
         U256{{0xafb4737da84c6140ull, 0x6043dd5a5802d8c4ull, 0x09e950fc52a02f86ull, 0x14fef0833aea7b6bull}})},
    {Fq::FromMontgomery(
         U256{{0x619dfa9d886be9f6ull, 0xfe7fd297f59e9b78ull, 0xff9e1a62231b7dfeull, 0x28fd7eebae9e4206ull}}),
     Fq::FromMontgomery(U256{
         {0x64095b56c71856eeull, 0xdc57f922327d3cbbull, 0x55f935be33351076ull, 0x0da4a0e693fd6482ull}})}};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CURVE_BN254_H_
