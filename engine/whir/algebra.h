// Small computations over the extension field that prover and verifier share. Variable 0 of a polynomial is
// the most significant bit of an index.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_WHIR_ALGEBRA_H_
#define PROOFMILL_ENGINE_WHIR_ALGEBRA_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kernels/field/babybear.h"
#include "kernels/field/babybear_ext.h"

namespace proofmill::engine {

template <int kDegree>
using WhirExt = kernels::BabyBearExt<kDegree>;

// (z^(2^(n-1)), .., z^4, z^2, z).
template <int kDegree>
std::vector<WhirExt<kDegree>> ExpandPoint(WhirExt<kDegree> z, size_t n) {
  std::vector<WhirExt<kDegree>> point(n);
  for (size_t i = n; i-- > 0; z *= z) point[i] = z;
  return point;
}

// The value at `point` of the multilinear polynomial with these 2^point.size() values.
template <int kDegree>
WhirExt<kDegree> EvaluateMultilinear(std::vector<WhirExt<kDegree>> values,
                                     absl::Span<const WhirExt<kDegree>> point) {
  for (const WhirExt<kDegree>& r : point) {
    const size_t half = values.size() / 2;
    for (size_t i = 0; i < half; ++i) values[i] += r * (values[i + half] - values[i]);
    values.resize(half);
  }
  return values[0];
}

// The value at `point` of an opened row, of base elements or of elements.
template <int kDegree>
WhirExt<kDegree> EvaluateRow(const std::vector<kernels::BabyBear>& row, bool extension,
                             absl::Span<const WhirExt<kDegree>> point) {
  std::vector<WhirExt<kDegree>> values(extension ? row.size() / kDegree : row.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!extension) {
      values[i] = WhirExt<kDegree>::FromBase(row[i]);
      continue;
    }
    for (size_t k = 0; k < kDegree; ++k) values[i].c[k] = row[i * kDegree + k];
  }
  return EvaluateMultilinear<kDegree>(std::move(values), point);
}

// h(r) of the polynomial of degree 2 through (0, h0), (1, h1) and (2, h2).
template <int kDegree>
WhirExt<kDegree> QuadraticAt(const WhirExt<kDegree>& h0, const WhirExt<kDegree>& h1,
                             const WhirExt<kDegree>& h2, const WhirExt<kDegree>& r) {
  using kernels::BabyBear;
  constexpr BabyBear half = BabyBear::FromCanonical((kernels::kBabyBearP + 1) / 2);
  const WhirExt<kDegree> one = WhirExt<kDegree>::One(), two = one + one;
  return (h0 * ((r - one) * (r - two)) + h2 * (r * (r - one))) * half + h1 * (r * (two - r));
}

// The product over coordinates of a b + (1 - a)(1 - b).
template <int kDegree>
WhirExt<kDegree> EqAt(absl::Span<const WhirExt<kDegree>> a, absl::Span<const WhirExt<kDegree>> b) {
  const WhirExt<kDegree> one = WhirExt<kDegree>::One();
  WhirExt<kDegree> product = one;
  for (size_t i = 0; i < a.size(); ++i) product *= a[i] * b[i] + (one - a[i]) * (one - b[i]);
  return product;
}

// The product over coordinates of 1 + b_i (x_i - 1), x_i being those of ExpandPoint(x): the multilinear
// polynomial whose value at index j is x^j.
template <int kDegree>
WhirExt<kDegree> PowerAt(kernels::BabyBear x, absl::Span<const WhirExt<kDegree>> b) {
  const WhirExt<kDegree> one = WhirExt<kDegree>::One();
  WhirExt<kDegree> product = one;
  for (size_t i = b.size(); i-- > 0; x *= x) product *= one + b[i] * (x - kernels::BabyBear::One());
  return product;
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_ALGEBRA_H_
