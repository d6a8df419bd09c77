// Compiled for AVX2 and FMA (montgomery_fma.h says what that asks of this file).

#include "kernels/cpu/ntt_lanes.h"

namespace proofmill::kernels {
namespace fma {
namespace {

// kFunction, rounding toward zero. It is called by its address, so that it is not inlined here.
template <auto kFunction>
struct Rounded;
template <typename... Args, void (*kFunction)(Args...)>
struct Rounded<kFunction> {
  static void Call(Args... args) {
    const RoundTowardZero rounding;
    void (*volatile function)(Args...) = kFunction;
    function(args...);
  }
};

}  // namespace
}  // namespace fma

constexpr NttKernels kFmaNttKernels = {.factor_scale = fma::kFactorScale,
                                       .leaf_log2 = fma::kLeafLog2,
                                       .pass_levels_max = fma::kPassLevelsMax,
                                       .inverse_pass = fma::Rounded<fma::InversePass>::Call,
                                       .forward_pass = fma::Rounded<fma::ForwardPass>::Call,
                                       .inverse_leaf = fma::Rounded<fma::InverseLeaf>::Call,
                                       .forward_leaf = fma::Rounded<fma::ForwardLeaf>::Call,
                                       .coset_leaf = fma::Rounded<fma::CosetLeaf>::Call,
                                       .scale = fma::Rounded<fma::Scale>::Call};

}  // namespace proofmill::kernels
