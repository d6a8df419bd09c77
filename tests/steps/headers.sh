# Every header compiles on its own, with GCC and the warnings of the build.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check "self-contained headers" bash tests/checks/self_contained_headers.sh "${BUILD_ROOT}/release" "${JOBS}"
