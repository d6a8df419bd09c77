#include "tests/engine/groth16/twist_points.h"

#include <cstdlib>
#include <optional>

#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::G2Affine;
using kernels::G2Xyzz;
using kernels::U256;

constexpr uint64_t kSmallFactor = 10069;

// x / d for a small d; the remainder must be zero.
U256 DivideExactly(U256 x, uint64_t d) {
  kernels::Uint128 remainder = 0;
  for (int i = 3; i >= 0; --i) {
    const kernels::Uint128 part = (remainder << 64) | x.limb[i];
    x.limb[i] = static_cast<uint64_t>(part / d);
    remainder = part % d;
  }
  if (remainder != 0) std::abort();
  return x;
}

// (2q - r) / 10069.
U256 LargeFactor() {
  U256 twice, cofactor;
  kernels::Add(Fq::kModulus, Fq::kModulus, twice);
  kernels::Sub(twice, kernels::Fr::kModulus, cofactor);
  return DivideExactly(cofactor, kSmallFactor);
}

// q = 3 mod 4, so x^((q + 1) / 4) is a root of x if x has one.
std::optional<Fq> SquareRoot(const Fq& x) {
  U256 exponent;
  kernels::Add(Fq::kModulus, U256{{1, 0, 0, 0}}, exponent);
  const Fq root = x.PowVartime(DivideExactly(exponent, 4));
  if (root.Square() != x) return std::nullopt;
  return root;
}

// Through the norm: (a + bu)^2 = x gives a^2 = (x0 + norm) / 2 and b = x1 / 2a.
std::optional<Fq2> SquareRoot(const Fq2& x) {
  const std::optional<Fq> norm = SquareRoot(x.c0.Square() + x.c1.Square());
  if (!norm.has_value()) return std::nullopt;
  const Fq half = Fq::FromUint64(2).Inverse();
  for (const Fq& n : {*norm, -*norm}) {
    const std::optional<Fq> a = SquareRoot((x.c0 + n) * half);
    if (!a.has_value() || a->IsZero()) continue;
    const Fq2 root{*a, x.c1 * half * a->Inverse()};
    if (root.Square() == x) return root;
  }
  return std::nullopt;
}

}  // namespace

G2Affine PointOutsideSubgroup() {
  for (uint64_t k = 1; k < 100; ++k) {
    const Fq2 x{Fq::FromUint64(k), Fq::One()};
    const std::optional<Fq2> y = SquareRoot(x.Square() * x + kernels::CurveB<Fq2>::kValue);
    if (y.has_value()) return {x, *y};
  }
  std::abort();  // every second x is on the twist
}

G2Affine PointOfOrder10069() {
  const G2Xyzz large = ScalarMulVartime(G2Xyzz::FromAffine(PointOutsideSubgroup()), LargeFactor());
  return ScalarMulVartime(large, kernels::Fr::kModulus).ToAffine();
}

G2Affine PointOfOrder10069TimesR() {
  return (G2Xyzz::FromAffine(kernels::kG2Generator) + PointOfOrder10069()).ToAffine();
}

}  // namespace proofmill::engine
