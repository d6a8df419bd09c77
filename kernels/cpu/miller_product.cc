#include "kernels/cpu/miller_product.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/field/arithmetic.h"
#if defined(__x86_64__)
#include "kernels/cpu/miller_parts.h"
#endif

namespace proofmill::kernels {

#if defined(__x86_64__)
namespace {

MillerPair MakePair(const G1Affine& p, const G2Affine& q) {
  const G2Affine first = FrobeniusOfTwist(q);
  const G2Affine second = FrobeniusOfTwist(first);
  return {p, q, first, -second, -FrobeniusOfTwist(second)};
}

// What `products`, of kMillerLanes lanes, makes of any number of pairs. A lane without a pair gets infinity,
// (0, 0), for p: its lines are then c * w^3, which is in Fq4, and the final exponentiation makes one of that.
template <size_t kLanes, typename Products>
CheckedMiller InLanes(std::vector<MillerPair> pairs, const Products& products) {
  static const MillerPair kNothing = MakePair(G1Affine::Infinity(), kG2Generator);
  pairs.resize((pairs.size() + kLanes - 1) / kLanes * kLanes, kNothing);
  CheckedMiller out{Fq12::One(), true};
  for (size_t begin = 0; begin < pairs.size(); begin += kMillerPairsMax) {
    Fq12 of_lanes[kLanes];
    const size_t n = std::min(kMillerPairsMax, pairs.size() - begin);
    const bool in_g2 = products(pairs.data() + begin, n, MillerLoopDigits(), CurveB<Fq2>::kValue, of_lanes);
    out.in_g2 = out.in_g2 && in_g2;
    for (const Fq12& value : of_lanes) out.value *= value;
  }
  return out;
}

}  // namespace
#endif

CheckedMiller MillerProduct(const PairingTerm* terms, size_t n) {
#if defined(__x86_64__)
  const Arithmetic arithmetic = CurrentArithmetic();
  if (arithmetic == Arithmetic::kIfma || arithmetic == Arithmetic::kFma) {
    std::vector<MillerPair> pairs;
    pairs.reserve(n + kMillerLanesMax);
    bool others_in_g2 = true;
    for (size_t i = 0; i < n; ++i) {
      const auto& [p, q] = terms[i];
      if (q.IsInfinity()) continue;
      if (p.IsInfinity()) {
        others_in_g2 = others_in_g2 && IsInG2Subgroup(q);
      } else {
        pairs.push_back(MakePair(p, q));
      }
    }
    CheckedMiller out = arithmetic == Arithmetic::kIfma
                            ? InLanes<ifma::kMillerLanes>(std::move(pairs), ifma::MillerProducts)
                            : InLanes<fma::kMillerLanes>(std::move(pairs), fma::MillerProducts);
    out.in_g2 = out.in_g2 && others_in_g2;
    return out;
  }
#endif
  return CheckedMillerLoopProduct(terms, n);
}

}  // namespace proofmill::kernels
