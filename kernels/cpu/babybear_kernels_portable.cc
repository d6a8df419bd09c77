#include "kernels/cpu/babybear_kernels_lanes.h"

namespace proofmill::kernels::portable {

constexpr BabyBearKernels kKernels = MakeKernels("portable");

}  // namespace proofmill::kernels::portable
