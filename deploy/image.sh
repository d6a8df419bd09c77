#!/bin/bash
# The steps of the Dockerfile, so that they can be run, and are tested, without Docker. As root of a Debian 12 system.
#
#   deploy/image.sh packages SECTION...              installs sections of deploy/packages.txt, and leaves nothing of apt behind
#   deploy/image.sh build cpu OUT                    builds the program without CUDA, into OUT/usr/bin
#   deploy/image.sh build cuda OUT ARCHITECTURES     with CUDA, for "all" cards that the toolkit has code for, or for those of
#                                                    a list as CMake has it: 80-real;90-real
#   deploy/image.sh user                             makes the user that the service runs as, and its folder for records
#
# Environment: PROOFMILL_REVISION (what the build says that it was made of) and PROOFMILL_JOBS (default: one for each core).
set -Eeuo pipefail
PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "${PROJECT_ROOT}"
. deploy/lib/steps.sh
. deploy/lib/packages.sh
. deploy/lib/build.sh

# The number of user and group; the chart has it too.
SERVICE_ID=10001
# The oldest cards that CUDA 13 knows.
ARCHITECTURE_MIN=75

usage() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2; }

packages() {
  install_packages "$@"
  rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
}

# every_architecture: machine code for each card that nvcc knows and the kernels run on, as CMake wants it.
every_architecture() {
  local nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
  "${nvcc}" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n |
    awk -v min="${ARCHITECTURE_MIN}" '$1 >= min { printf "%s%s-real", separator, $1; separator = ";" } END { exit separator == "" }'
}

build() {
  local backend=$1 out=$2 folder=build/image-$1 arguments=(-DPROOFMILL_TESTS=OFF "-DPROOFMILL_REVISION=${PROOFMILL_REVISION:-}")
  case ${backend} in
    cpu) arguments+=(-DPROOFMILL_CUDA=OFF) ;;
    cuda)
      local architectures=$3
      if [[ ${architectures} == all ]]; then architectures=$(every_architecture); fi
      arguments+=(-DPROOFMILL_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=${architectures}")
      ;;
    *) usage ;;
  esac
  mkdir -p "${folder}"
  configure_release "${folder}" "${folder}/configure.log" "${arguments[@]}"
  build_program "${folder}" "${PROOFMILL_JOBS:-$(nproc)}"
  install -D --strip "${folder}/cli/proofmill" "${out}/usr/bin/proofmill"
  install -D -m 644 LICENSE "${out}/usr/share/doc/proofmill/LICENSE"
}

make_user() {
  groupadd --gid "${SERVICE_ID}" proofmill
  useradd --uid "${SERVICE_ID}" --gid "${SERVICE_ID}" --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin proofmill
  install -d -o "${SERVICE_ID}" -g "${SERVICE_ID}" -m 700 /var/lib/proofmill
}

case ${1:-} in
  packages) [[ $# -ge 2 ]] || usage ;;
  build) [[ ${2:-} == cpu && $# -eq 3 ]] || [[ ${2:-} == cuda && $# -eq 4 ]] || usage ;;
  user) [[ $# -eq 1 ]] || usage ;;
  *) usage ;;
esac
step_start "image: $*"
case $1 in
  packages) packages "${@:2}" ;;
  build) build "${@:2}" ;;
  user) make_user ;;
esac
step_finish
