// The optimal ate pairing on BN254, G1 x G2 -> the r-th roots of unity in Fq12.
//
// Vercauteren, "Optimal pairings", 2010, in the form for BN curves: f_{6x+2,Q}(P) times two line factors, to
// the power 2x(6x^2+3x+1) * (q^12-1)/r with x = 4965661367192848881 (Fuentes-Castaneda, Knapp and
// Rodriguez-Henriquez, "Faster hashing to G2", 2011). That exponent is the one of snarkjs, so Pairing(alpha1,
// beta2) is the vk_alphabeta_12 of a verification key; it is not a power of (q^12-1)/r that others use.
//
// Points are public here: time depends on them (infinity is skipped). Thread safety: pure functions.

#ifndef PROOFMILL_KERNELS_CURVE_PAIRING_H_
#define PROOFMILL_KERNELS_CURVE_PAIRING_H_

#include <cstddef>
#include <vector>

#include "kernels/curve/bn254.h"
#include "kernels/curve/non_adjacent_form.h"
#include "kernels/curve/tower.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

struct PairingTerm {
  G1Affine g1;
  G2Affine g2;
};

// The Miller value of one pair, defined up to factors that FinalExponentiation() removes; 1 if either point
// is infinity. REQUIRES: `p` is in G1 and `q` in G2 (its subgroup of order r).
Fq12 MillerLoop(const G1Affine& p, const G2Affine& q);

// The product of the Miller values of n pairs, cheaper than n times MillerLoop(). Same requirements.
Fq12 MillerLoopProduct(const PairingTerm* terms, size_t n);

// A Miller value for points of the twist that may be outside G2. Whether they are in it, exactly, is known at
// the end of the loop: that costs a twentieth of IsInG2Subgroup().
struct CheckedMiller {
  Fq12 value;  // meaningful if in_g2
  bool in_g2 = true;
};
// REQUIRES: `p` is in G1 and `q` on the twist.
CheckedMiller CheckedMillerLoop(const G1Affine& p, const G2Affine& q);
// Of the product for n pairs, and whether all q are in G2. kernels/cpu/miller_product.h is faster. Throws
// std::bad_alloc.
CheckedMiller CheckedMillerLoopProduct(const PairingTerm* terms, size_t n);

// The line a*y_P + b*x_P*w + c*w^3 through points of the twist, for any P of G1; up to a factor in Fq2, which
// the final exponentiation removes. Those of a PreparedG2 have a = 1.
struct MillerLine {
  Fq2 a;
  Fq2 b;
  Fq2 c;
};

// A point of G2 with all lines of its Miller loop (17 KB), for points that meet many P.
class PreparedG2 {
 public:
  // REQUIRES: `q` is in G2.
  explicit PreparedG2(const G2Affine& q);

  // In the order in which the loop multiplies them in; none for infinity.
  const std::vector<MillerLine>& lines() const { return lines_; }

 private:
  std::vector<MillerLine> lines_;
};

// MillerLoop(p, q) up to a factor in Fq2, for the q of `prepared`, in half its time. REQUIRES: `p` is in G1.
Fq12 MillerLoop(const G1Affine& p, const PreparedG2& prepared);

// f^(2x(6x^2+3x+1) * (q^12-1)/r). REQUIRES: f is not zero.
Fq12 FinalExponentiation(const Fq12& f);

// FinalExponentiation(MillerLoop(p, q)).
Fq12 Pairing(const G1Affine& p, const G2Affine& q);

// Whether the product of e(g1, g2) over n pairs is one; true for n = 0. A pair with an infinity counts as
// one.
bool PairingProductIsOne(const PairingTerm* terms, size_t n);

// For loops elsewhere. The digits of 6x+2, and the q-power Frobenius of the twist.
const NonAdjacentForm& MillerLoopDigits();
G2Affine FrobeniusOfTwist(const G2Affine& p);

// Whether p is infinity or of order r, exactly. REQUIRES: `p` is on the curve.
bool IsInG2Subgroup(const G2Affine& p);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CURVE_PAIRING_H_
