#include "tests/bench/lane_products_lanes.h"

namespace proofmill::kernels::fma {
namespace {

template <auto kFunction>
void Rounded(const U256* y, U256* x, size_t steps) {
  const RoundTowardZero rounding;
  kFunction(y, x, steps);
}

}  // namespace

constexpr LaneProducts kLaneProducts = {.multiply_fq = Rounded<MultiplyLanes<FqParams>>,
                                        .square_fq = Rounded<SquareFqLanes>,
                                        .multiply_fr = Rounded<MultiplyLanes<FrParams>>};

}  // namespace proofmill::kernels::fma
