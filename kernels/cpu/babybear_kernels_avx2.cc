#include "kernels/cpu/babybear_kernels_lanes.h"

namespace proofmill::kernels::avx2 {

constexpr BabyBearKernels kKernels = MakeKernels("avx2");

}  // namespace proofmill::kernels::avx2
