// The parts of pairing.cc that are compiled for AVX-512 IFMA: chains in Fq12 with one element in the lanes of
// a vector.

#ifndef PROOFMILL_KERNELS_CURVE_FQ12_PARTS_H_
#define PROOFMILL_KERNELS_CURVE_FQ12_PARTS_H_

#include "kernels/curve/non_adjacent_form.h"
#include "kernels/curve/pairing.h"
#include "kernels/curve/tower.h"

namespace proofmill::kernels::ifma {

// *out = f^exponent; digits are below 8 in absolute value, the top one is 1. REQUIRES: f is in the cyclotomic
// subgroup; Supported(Arithmetic::kIfma).
void CyclotomicPower(const Fq12* f, const NonAdjacentForm& exponent, Fq12* out);

// *out = the product of the lines as a Miller loop takes it, up to a factor in Fq: for each digit of `loop`
// but the top one, from above, a squaring and a line, and one more line if the digit is not 0; then the two
// lines that are left. `lines` are at a point of G1: a + b*w + c*w^3. REQUIRES: Supported(Arithmetic::kIfma).
void LineProduct(const MillerLine* lines, const NonAdjacentForm& loop, Fq12* out);

}  // namespace proofmill::kernels::ifma

#endif  // PROOFMILL_KERNELS_CURVE_FQ12_PARTS_H_
