#include "kernels/curve/tower.h"

namespace proofmill::kernels {
namespace {

// (q - 1) / 6.
constexpr U256 kFrobeniusExponent{
    {0x34b017592414d4e1ull, 0xee9591c2e6bda1c2ull, 0xf40d60f3c0403964ull, 0x0810b7bdd032f006ull}};

constexpr Fq2 PowVartime(const Fq2& base, const U256& exponent) {
  Fq2 out = Fq2::One();
  for (size_t i = 252; i-- > 0;) {  // the exponent has 252 bits
    out = out.Square();
    if (exponent.Bit(i) != 0) out *= base;
  }
  return out;
}

// w^q = kGamma * w with kGamma = xi^((q-1)/6), since w^6 = xi.
constexpr Fq2 kXi = MulByXi(Fq2::One());
constexpr Fq2 kGamma = PowVartime(kXi, kFrobeniusExponent);
static_assert(kGamma.Square() * kGamma.Square() * kGamma.Square() * kXi == kXi.Conjugate(),
              "gamma^6 is xi^(q-1)");

// Factors of w^0 .. w^5 under the q^power-power Frobenius.
struct FrobeniusFactors {
  Fq2 w[6];

  constexpr explicit FrobeniusFactors(const Fq2& factor_of_w) {
    w[0] = Fq2::One();
    for (int i = 1; i < 6; ++i) w[i] = w[i - 1] * factor_of_w;
  }
};
// w^(q^2) = (kGamma * w)^q = conj(kGamma) * kGamma * w, and so on.
constexpr Fq2 kGammaSquared = kGamma.Conjugate() * kGamma;
constexpr FrobeniusFactors kFactors[3] = {FrobeniusFactors(kGamma), FrobeniusFactors(kGammaSquared),
                                          FrobeniusFactors(kGammaSquared.Conjugate() * kGamma)};

}  // namespace

Fq12 Fq12::Frobenius(int power) const {
  const Fq2* const factor = kFactors[power - 1].w;
  const auto map = [power](const Fq2& a) { return power % 2 == 0 ? a : a.Conjugate(); };
  return {{map(c0.c0), map(c0.c1) * factor[2], map(c0.c2) * factor[4]},
          {map(c1.c0) * factor[1], map(c1.c1) * factor[3], map(c1.c2) * factor[5]}};
}

}  // namespace proofmill::kernels
