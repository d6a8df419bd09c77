# The documentation names only commands, flags and files that exist, and every flag of the server.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check "documentation" python3 tests/checks/docs.py "${BUILD_ROOT}/release/cli/proofmill"
