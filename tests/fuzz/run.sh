#!/bin/bash
# Runs every fuzz target of a build from its seeds, fails on the first finding, and prints one line for each.
# usage: tests/fuzz/run.sh BUILD_DIR [RUNS]    BUILD_DIR: configured with preset `fuzz` and built; RUNS: executions each, 10000
set -Eeuo pipefail
if [[ $# -lt 1 || ! -d $1 ]]; then
  echo "usage: $0 BUILD_DIR [RUNS]: expected the folder of a build with preset fuzz, got '${1:-nothing}'" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
runs=${2:-10000}
checks=$(cd "$(dirname "${BASH_SOURCE[0]}")/../checks" && pwd)

mapfile -t targets < <(find "${build}" -name '*_fuzz' -type f -perm -u+x | sort)
if [[ ${#targets[@]} -eq 0 ]]; then
  echo "no fuzz target in ${build}: build it with preset fuzz" >&2
  exit 1
fi
for target in "${targets[@]}"; do
  start=${EPOCHREALTIME/./}
  # A finding is left in the build folder, under fuzz-work.
  line=$(bash "${checks}/fuzz_run.sh" "${target}" "${runs}" "${build}/fuzz-work")
  echo "${line}, $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
done
