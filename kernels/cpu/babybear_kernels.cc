#include "kernels/cpu/babybear_kernels.h"

#include "kernels/field/arithmetic.h"

namespace proofmill::kernels {

const BabyBearKernels& CurrentBabyBearKernels() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  const Arithmetic arithmetic = CurrentArithmetic();
  if (arithmetic == Arithmetic::kIfma) return avx512::kKernels;
  if ((arithmetic == Arithmetic::kAdx && has_avx2) || arithmetic == Arithmetic::kFma) return avx2::kKernels;
#endif
  return portable::kKernels;
}

}  // namespace proofmill::kernels
