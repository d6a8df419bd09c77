# Builds the program. Source it; needs bash with `set -Eeuo pipefail`, PROJECT_ROOT, and to be in that folder.
#
#   configure_release FOLDER LOG ARGUMENT...   configures the release preset there, and prints the backends that it will have
#   build_program FOLDER JOBS                  builds FOLDER/cli/proofmill

# With ccache: lets a clone in another folder use what was compiled before.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-${PROJECT_ROOT}} CCACHE_NOHASHDIR=1

configure_release() {
  local folder=$1 log=$2
  shift 2
  cmake --preset release -B "${folder}" "$@" >"${log}" 2>&1 || {
    cat "${log}" >&2
    return 1
  }
  grep 'proofmill backends:' "${log}"
}

build_program() {
  cmake --build "$1" -j "$2" --target proofmill
}
