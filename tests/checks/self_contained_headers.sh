#!/bin/bash
# Every header of ours compiles alone. Of one that some source includes before anything else the build has shown it; the others
# are compiled here (syntax only). CUDA device headers (.cuh) are left to nvcc.
# usage: self_contained_headers.sh BUILD_FOLDER JOBS    the folder holds the generated proto headers
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$1 jobs=$2

flags=(-std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Wshadow -Werror -I . -isystem "${build}/proto_generated")
# A machine without the CUDA toolkit builds nothing under a folder named cuda, and cannot.
cuda=${CUDA_HOME:-/usr/local/cuda}/include
left_out='^$'
if [[ -f ${cuda}/cuda_runtime_api.h ]]; then
  flags+=(-isystem "${cuda}")
else
  left_out='/cuda/'
  echo "no CUDA toolkit: headers in folders named cuda are left out"
fi

# A header is included from an otherwise empty file: compiling it directly would warn about `#pragma once` and unused statics.
compile_alone() {
  local header=$1
  shift
  if [[ ${header} == *_ifma.h ]]; then set -- "$@" -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512ifma; fi
  if [[ ${header} == *_fma.h || ${header} == */lanes52.h || ${header} == *_lanes.h ]]; then set -- "$@" -mavx2 -mfma; fi
  if ! echo "#include \"${header}\"" | g++ "$@" -x c++ -; then echo "${header} does not compile alone"; return 1; fi
}
export -f compile_alone

mapfile -t headers < <(git ls-files 'kernels/*.h' 'engine/*.h' 'server/*.h' 'clients/*.h' 'cli/*.h' 'tests/*.h' | grep -v "${left_out}")
if [[ ! -d ${build}/proto_generated ]]; then
  echo "no generated proto headers under ${build}: build the release preset first" >&2
  exit 1
fi

# The first include of each source that the build compiled.
mapfile -t compiled < <(sed -nE "s|^ *\"file\": \"${PWD}/(.*)\",?\$|\1|p" "${build}/compile_commands.json" | sort -u)
shown=$(for source in "${compiled[@]}"; do
  if [[ -f ${source} ]]; then sed -nE '/^#include/ { s/^#include "(.*)"$/\1/p; q }' "${source}"; fi
done | sort -u)
total=${#headers[@]}
mapfile -t headers < <(printf '%s\n' "${headers[@]}" | grep -vxFf <(printf '%s\n' "${shown}"))
echo "${total} headers, of which the build showed all but ${#headers[@]}"
printf '%s\n' "${headers[@]}" | xargs -P "${jobs}" -I{} bash -c 'compile_alone "$@"' _ {} "${flags[@]}"
