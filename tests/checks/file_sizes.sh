#!/bin/bash
# No hand-written source file has more than 500 lines. Tables of generated numbers (*_table.*, *_constants.*) do not count.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

git ls-files '*.cc' '*.h' '*.cu' '*.cuh' '*.py' '*.sh' '*.js' '*.mjs' '*.ts' '*.proto' | grep -vE '_(table|constants)\.[a-z]+$' |
  xargs wc -l | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines, at most 500 expected"; bad = 1 } END { exit bad }'
