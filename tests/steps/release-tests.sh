# Runs the tests of the release preset.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run_ctest release
