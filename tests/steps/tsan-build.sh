# Builds the tsan preset: kernels and engine on std::thread, under the thread sanitizer, without suppressions.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset tsan -DPROOFMILL_TESTS=ON
