// Polynomials evaluated point by point: the oracle of the number-theoretic transforms.

#ifndef PROOFMILL_TESTS_ORACLE_DFT_H_
#define PROOFMILL_TESTS_ORACLE_DFT_H_

#include <cstddef>
#include <vector>

namespace proofmill::oracle {

// coefficients[0] + coefficients[1] * x + ..., by Horner's rule.
template <typename F>
F Evaluate(const std::vector<F>& coefficients, const F& x) {
  F out = F::Zero();
  for (size_t i = coefficients.size(); i-- > 0;) out = out * x + coefficients[i];
  return out;
}

// The values at shift * root^0, shift * root^1, ..., as many as there are coefficients.
template <typename F>
std::vector<F> EvaluateOnCoset(const std::vector<F>& coefficients, const F& root, const F& shift) {
  std::vector<F> out;
  F x = shift;
  for (size_t i = 0; i < coefficients.size(); ++i) {
    out.push_back(Evaluate(coefficients, x));
    x = x * root;
  }
  return out;
}

}  // namespace proofmill::oracle

#endif  // PROOFMILL_TESTS_ORACLE_DFT_H_
