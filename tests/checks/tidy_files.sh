#!/bin/bash
# Prints the sources that clang-tidy should look at: those that changed since the newest commit that is more than six hours
# old, uncommitted changes included; for a changed header, one source that includes it. All of them when there is no such
# commit, or when what changed is the configuration of clang-tidy. Only what BUILD_FOLDER compiles is printed: without a CUDA
# toolkit that leaves out the CUDA backend.
# usage: tidy_files.sh BUILD_FOLDER | tidy_files.sh BUILD_FOLDER --all
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=$1 mode=${2:-}
compiled() {
  local known
  known=$(sed -nE "s|^ *\"file\": \"${PWD}/(.*)\",?$|\1|p" "${build}/compile_commands.json")
  grep -xFf <(printf '%s\n' "${known}") || true
}

sources=('kernels/*.cc' 'engine/*.cc' 'server/*.cc' 'clients/*.cc' 'cli/*.cc')
headers=('kernels/*.h' 'engine/*.h' 'server/*.h' 'clients/*.h' 'cli/*.h')
base=$(git rev-list -1 --before='6 hours ago' HEAD)
if [[ ${mode} == --all || -z ${base} ]] || ! git diff --quiet "${base}" -- .clang-tidy; then
  git ls-files -- "${sources[@]}" | compiled
  exit 0
fi
{
  git diff --name-only --diff-filter=d "${base}" -- "${sources[@]}"
  git diff --name-only --diff-filter=d "${base}" -- "${headers[@]}" | while read -r header; do
    if git ls-files --error-unmatch "${header%.h}.cc" >/dev/null 2>&1; then
      echo "${header%.h}.cc"
    else
      git grep -lF "#include \"${header}\"" -- "${sources[@]}" | head -1 || true
    fi
  done
} | sort -u | compiled
