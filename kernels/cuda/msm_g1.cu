#include "kernels/cuda/msm_launch.cuh"

namespace proofmill::kernels {
PROOFMILL_INSTANTIATE_MSM(Fq);
}  // namespace proofmill::kernels
