# Builds the asan preset: everything, under the address and undefined-behaviour sanitizers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset asan -DPROOFMILL_TESTS=ON
