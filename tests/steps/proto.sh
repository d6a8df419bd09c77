# The API is clean under buf's lint and does not break the released API, and its reference is what its comments say.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

REFERENCE=(python3 tests/checks/api_reference.py tests/node_modules/.bin/buf docs/api.md)
check "proto checks" bash tests/checks/proto.sh
check "docs/api.md is what the .proto files say" "${REFERENCE[@]}"
check "docs/api.md: the comparison finds planted changes" "${REFERENCE[@]}" --self_test
