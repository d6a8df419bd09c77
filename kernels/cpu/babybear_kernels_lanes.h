// Makes the table of kernels of the instruction set that the including translation unit is compiled for.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_KERNELS_LANES_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_KERNELS_LANES_H_

#include "kernels/cpu/babybear_kernels.h"
#include "kernels/cpu/babybear_lanes.h"
#include "kernels/cpu/babybear_ntt_lanes.h"
#include "kernels/cpu/babybear_sums_lanes.h"
#include "kernels/cpu/poseidon2_lanes.h"

namespace proofmill::kernels::PROOFMILL_LANES {

constexpr BabyBearKernels MakeKernels(const char* name) {
  return {.name = name,
          .lanes = kLanes,
          .permute = PermuteStates,
          .hash_rows = HashRows,
          .compress = CompressPairs,
          .search_nonce = SearchNonce,
          .ntt_block = NttBlock,
          .ntt_three_layers = ThreeLayers,
          .ntt_tails = NttTails,
          .ext4 = kExtKernels<4>,
          .ext5 = kExtKernels<5>};
}

}  // namespace proofmill::kernels::PROOFMILL_LANES

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_KERNELS_LANES_H_
