// Register-only products of montgomery_ifma.h and montgomery_fma.h, for benchmarks that are not compiled for
// them.

#ifndef PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_H_
#define PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_H_

#include <cstddef>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

inline constexpr size_t kLaneElements = 32;  // four vectors of eight lanes side by side, or eight of four

struct LaneProducts {
  // `steps` times: x[i] = x[i] * y, or its square, for all kLaneElements elements, without full reduction.
  // REQUIRES: numbers below p.
  void (*multiply_fq)(const U256* y, U256* x, size_t steps);
  void (*square_fq)(const U256* y, U256* x, size_t steps);  // of no use for y
  void (*multiply_fr)(const U256* y, U256* x, size_t steps);
};

// REQUIRES: their functions run only where Supported() of Arithmetic::kIfma or kFma.
namespace ifma {
extern const LaneProducts kLaneProducts;
}  // namespace ifma
namespace fma {
extern const LaneProducts kLaneProducts;
}  // namespace fma

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_H_
