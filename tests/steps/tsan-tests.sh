# Runs the tests of the tsan preset.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run_ctest tsan
