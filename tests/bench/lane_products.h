// Register-only products of montgomery_ifma.h, for benchmarks that are not compiled for it.

#ifndef PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_H_
#define PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_H_

#include <cstddef>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

inline constexpr size_t kLaneChains = 4;  // vectors that are worked on side by side
inline constexpr size_t kLaneElements = 8 * kLaneChains;

// `steps` times: x[i] = x[i] * y, or its square, for all kLaneElements elements, without full reduction.
// REQUIRES: Supported(Arithmetic::kIfma); numbers below p.
void MultiplyFqLanes(const U256* y, U256* x, size_t steps);
void SquareFqLanes(U256* x, size_t steps);
void MultiplyFrLanes(const U256* y, U256* x, size_t steps);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_H_
