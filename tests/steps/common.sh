# What every step of tests/run.sh shares. Source it first in each step; a step can also be run alone.
#
# A step reports what it tested with `record`; tests/run.sh adds the numbers up. A step that exits non-zero without having
# recorded a failure counts as one.
set -Eeuo pipefail

PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD_ROOT=${PROOFMILL_BUILD_ROOT:-${PROJECT_ROOT}/build}
JOBS=${PROOFMILL_JOBS:-$(nproc)}
RESULTS_FILE=${PROOFMILL_RESULTS_FILE:-/dev/null}
mkdir -p "${BUILD_ROOT}"
cd "${PROJECT_ROOT}"

# Lets a clone in another folder use what an earlier build of the same sources left in the compiler cache.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-${PROJECT_ROOT}} CCACHE_NOHASHDIR=1
# Compilers and clang-tidy take a few per cent less time where their heap lies in large pages.
COMPILE_ENV=(env GLIBC_TUNABLES=glibc.malloc.hugetlb=1)
export NINJA_STATUS='[%f/%t %es] '

# record passed|failed|skipped COUNT WHAT: WHAT names the tests, or says what is wrong.
record() {
  printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"${RESULTS_FILE}"
  if [[ $1 != passed ]]; then echo "$1: $3"; fi
}

# check NAME COMMAND...: one test that passes when the command does.
check() {
  local name=$1
  shift
  if "$@"; then
    record passed 1 "${name}"
  else
    record failed 1 "${name} (exit status $?)"
  fi
}

# build_preset PRESET [CMAKE_ARGUMENT...]: configures and builds all of a preset, and names the targets that were built.
build_preset() {
  local preset=$1 folder=${BUILD_ROOT}/$1
  shift
  rm -f "${BUILD_ROOT}/${preset}-built"
  cmake --preset "${preset}" -B "${folder}" -DPROOFMILL_WERROR=ON "$@" >"${BUILD_ROOT}/${preset}-configure.log" 2>&1 || {
    cat "${BUILD_ROOT}/${preset}-configure.log"
    record failed 1 "configure preset ${preset}"
    return 1
  }
  if ! "${COMPILE_ENV[@]}" cmake --build "${folder}" -j "${JOBS}"; then
    record failed 1 "build preset ${preset}"
    return 1
  fi
  local targets
  targets=$(ninja -C "${folder}" -t targets all | sed -nE 's/^.*: (CXX|CUDA)_(EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY)_LINKER__(.+)_[A-Za-z]+$/\3/p' |
    sort -u | tr '\n' ' ')
  echo "targets of preset ${preset}: ${targets}"
  touch "${BUILD_ROOT}/${preset}-built"
  record passed 1 "build preset ${preset}"
}

# run_ctest PRESET [CTEST_ARGUMENT...]: runs the tests of a built preset and records each.
run_ctest() {
  local preset=$1 folder=${BUILD_ROOT}/$1 junit=${BUILD_ROOT}/$1-tests.xml status=0
  shift
  if [[ ! -f ${BUILD_ROOT}/${preset}-built ]]; then
    record failed 1 "tests of preset ${preset}: the build is missing or failed"
    return 1
  fi
  rm -f "${junit}"
  ctest --test-dir "${folder}" --show-only=json-v1 >"${junit%.xml}.json"
  ctest --test-dir "${folder}" -j "${JOBS}" --no-tests=error --output-on-failure --output-junit "${junit}" \
    --test-output-size-passed 20000000 --test-output-size-failed 20000000 "$@" </dev/null || status=$?
  python3 tests/checks/ctest_results.py "${junit}" "${junit%.xml}.json" "${status}" >"${junit%.xml}.results"
  while IFS=$'\t' read -r outcome count what; do record "${outcome}" "${count}" "${preset}: ${what}"; done <"${junit%.xml}.results"
  ! grep -q '^failed' "${junit%.xml}.results"
}
