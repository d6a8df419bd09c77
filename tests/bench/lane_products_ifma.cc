#include "tests/bench/lane_products_lanes.h"

namespace proofmill::kernels::ifma {

constexpr LaneProducts kLaneProducts = {.multiply_fq = MultiplyLanes<FqParams>,
                                        .square_fq = SquareFqLanes,
                                        .multiply_fr = MultiplyLanes<FrParams>};

}  // namespace proofmill::kernels::ifma
