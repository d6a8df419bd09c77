# The README's first command works on what was built.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check "quickstart" bash deploy/quickstart.sh
