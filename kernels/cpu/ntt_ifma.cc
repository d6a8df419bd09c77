// Compiled for AVX-512 IFMA (montgomery_ifma.h says what that asks of this file).

#include "kernels/cpu/ntt_lanes.h"

namespace proofmill::kernels {

constexpr NttKernels kIfmaNttKernels = {.factor_scale = ifma::kFactorScale,
                                        .leaf_log2 = ifma::kLeafLog2,
                                        .pass_levels_max = ifma::kPassLevelsMax,
                                        .inverse_pass = ifma::InversePass,
                                        .forward_pass = ifma::ForwardPass,
                                        .inverse_leaf = ifma::InverseLeaf,
                                        .forward_leaf = ifma::ForwardLeaf,
                                        .coset_leaf = ifma::CosetLeaf,
                                        .scale = ifma::Scale};

}  // namespace proofmill::kernels
