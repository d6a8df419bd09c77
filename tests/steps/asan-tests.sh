# Runs the tests of the asan preset.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run_ctest asan
