# The API is clean under buf's lint and does not break the released API.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check "proto checks" bash tests/checks/proto.sh
