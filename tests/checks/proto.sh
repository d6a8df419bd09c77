#!/usr/bin/env bash
# Checks the API: lint, no breaking change against the released image, and that the check itself works: a copy in which
# a field has another name must be refused, and so must one in which a field has no comment.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
buf=$root/tests/node_modules/.bin/buf
[ -x "$buf" ] || { echo "proto.sh: $buf is missing: run 'npm ci' in tests/ first" >&2; exit 2; }
released=$root/proto/proofmill/v1/released.binpb

"$buf" lint
"$buf" breaking proto --against "$released"
echo "proto.sh: lint clean, nothing breaks the released API"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# must_refuse NAME SED_EXPRESSION FILE EXPECTED_TEXT COMMAND...: changes a fresh copy and wants COMMAND to fail with the text.
must_refuse() {
  local name=$1 expression=$2 file=$3 expected=$4 output
  shift 4
  rm -rf "${copy:?}"/*
  cp -r buf.yaml proto third_party "$copy"
  sed -i "$expression" "$copy/$file"
  if cmp -s "$file" "$copy/$file"; then
    echo "proto.sh: the mutant '$name' changed nothing" >&2
    exit 1
  fi
  if output=$(cd "$copy" && "$@" 2>&1); then
    echo "proto.sh: the mutant '$name' was accepted" >&2
    exit 1
  fi
  if ! grep -q "$expected" <<<"$output"; then
    echo "proto.sh: the mutant '$name' was refused for another reason: $output" >&2
    exit 1
  fi
  echo "proto.sh: the mutant '$name' is refused"
}
must_refuse "renamed field" 's/uint64 size_bytes = 2;/uint64 length_bytes = 2;/' proto/proofmill/v1/uploads.proto \
  'changed name from "size_bytes" to "length_bytes"' "$buf" breaking proto --against "$released"
must_refuse "removed method" '/rpc Verify(/d' proto/proofmill/v1/prover.proto \
  'Previously present RPC "Verify"' "$buf" breaking proto --against "$released"
must_refuse "removed method of jobs" '/rpc WatchJob(/d' proto/proofmill/v1/jobs.proto \
  'Previously present RPC "WatchJob"' "$buf" breaking proto --against "$released"
must_refuse "removed method of administration" '/rpc SetAlias(/d' proto/proofmill/v1/circuit_admin.proto \
  'Previously present RPC "SetAlias"' "$buf" breaking proto --against "$released"
must_refuse "field without comment" 's|^  // The factor of u in x: .*||' proto/proofmill/v1/common.proto \
  'should have a non-empty comment' "$buf" lint
