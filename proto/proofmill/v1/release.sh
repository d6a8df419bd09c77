#!/usr/bin/env bash
# Makes the current API the released one: writes its image, which `buf breaking` compares with, to released.binpb.
# Run it when a version is released, and commit the result. Needs `npm ci` in tests/ for buf.
set -euo pipefail
cd "$(dirname "$0")/../../.."
buf=tests/node_modules/.bin/buf
[ -x "$buf" ] || { echo "release.sh: $buf is missing: run 'npm ci' in tests/ first" >&2; exit 2; }
"$buf" lint
[ ! -e proto/proofmill/v1/released.binpb ] || "$buf" breaking proto --against proto/proofmill/v1/released.binpb
"$buf" build proto --exclude-source-info -o proto/proofmill/v1/released.binpb
echo "released: proto/proofmill/v1/released.binpb"
