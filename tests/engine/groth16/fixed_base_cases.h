// What every FixedBaseMultiplier must get right.

#ifndef PROOFMILL_TESTS_ENGINE_GROTH16_FIXED_BASE_CASES_H_
#define PROOFMILL_TESTS_ENGINE_GROTH16_FIXED_BASE_CASES_H_

#include <cstddef>
#include <vector>

#include "engine/groth16/fixed_base.h"
#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/kernels/elements.h"

namespace proofmill::engine {

// `n` scalars: 0, 1, r - 1 and the other edge values first, then random ones, each twice.
inline std::vector<kernels::Fr> FixedBaseScalars(size_t n) {
  std::vector<kernels::Fr> scalars = kernels::Elements<kernels::Fr>::Edge();
  kernels::Random random(7);
  while (scalars.size() < n) {
    scalars.push_back(kernels::Elements<kernels::Fr>::Uniform(random));
    scalars.push_back(scalars.back());
  }
  scalars.resize(n);
  return scalars;
}

// That points[i] = scalars[i] * generator, by double and add. A sample of the random ones, which are slow.
template <typename F>
void ExpectMultiples(const std::vector<kernels::Fr>& scalars, const std::vector<kernels::Affine<F>>& points) {
  ASSERT_EQ(scalars.size(), points.size());
  constexpr size_t kAll = 120;
  for (size_t i = 0; i < scalars.size(); i += i < kAll ? 1 : 97) {
    ASSERT_EQ(points[i], kernels::Multiple<F>(scalars[i].ToPlain())) << i;
  }
}

template <typename F>
std::vector<kernels::Affine<F>> MultiplesOf(FixedBaseMultiplier& multiplier,
                                            const std::vector<kernels::Fr>& scalars) {
  // Neither infinity nor a multiple of anything.
  std::vector<kernels::Affine<F>> points(scalars.size(), {F::One(), F::One()});
  EXPECT_OK(multiplier.Multiply(scalars, points.data()));
  return points;
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_GROTH16_FIXED_BASE_CASES_H_
