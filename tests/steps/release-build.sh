# Builds the release preset. Where a CUDA toolkit is present, something must have been compiled for sm_90.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset release -DPROOFMILL_TESTS=ON
check "CUDA kernels compiled for sm_90" python3 tests/checks/cuda_compiled.py "${BUILD_ROOT}/release"
check "CUDA kernels compiled for sm_90: the check works" python3 tests/checks/cuda_compiled.py --self_test
