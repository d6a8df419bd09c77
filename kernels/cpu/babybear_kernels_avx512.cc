#include "kernels/cpu/babybear_kernels_lanes.h"

namespace proofmill::kernels::avx512 {

constexpr BabyBearKernels kKernels = MakeKernels("avx512");

}  // namespace proofmill::kernels::avx512
