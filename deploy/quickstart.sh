#!/bin/bash
# From a fresh Debian 12 machine to a verified proof: installs the packages, builds the service, starts it with the bundled
# circuit, proves that circuit over gRPC, verifies the proof, shows a few metrics and stops the service.
#
#   ./deploy/quickstart.sh             as root, or as a user with sudo
#   ./deploy/quickstart.sh --keep      leaves the service running, on the default ports, and says how to reach and stop it
#   ./deploy/quickstart.sh --no_cuda   builds in build/nocuda, without the CUDA backend even where there is a CUDA toolkit; without
#                                      this flag the build in build/release has it, so that a GPU that comes later is used
#
# Environment: PROOFMILL_BUILD_ROOT (default build/) and PROOFMILL_JOBS (default: one for each core).
set -Eeuo pipefail
PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "${PROJECT_ROOT}"
. deploy/lib/steps.sh
. deploy/lib/packages.sh
. deploy/lib/build.sh
. deploy/lib/server.sh

BUILD_ROOT=${PROOFMILL_BUILD_ROOT:-${PROJECT_ROOT}/build}
JOBS=${PROOFMILL_JOBS:-$(nproc)}
CIRCUITS=deploy/examples/circuits
CIRCUIT=epoch-key-lite
WORK=${BUILD_ROOT}/quickstart
# What all of the program takes one core to compile.
BUILD_CORE_SECONDS=1200

usage() { sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

KEEP=0
PRESET=release
LISTEN=(--listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0)
for argument in "$@"; do
  case ${argument} in
    --keep) KEEP=1 && LISTEN=() ;;
    --no_cuda) PRESET=nocuda ;;
    --help) usage && exit 0 ;;
    *) echo "expected --keep, --no_cuda or --help, got ${argument}" >&2 && usage >&2 && exit 2 ;;
  esac
done
BUILD=${BUILD_ROOT}/${PRESET}
PROGRAM=${BUILD}/cli/proofmill
on_exit() {
  local status=$?
  steps_report_failure "${status}"
  if [[ ${KEEP} -eq 0 || ${status} -ne 0 ]]; then server_kill; fi
}
trap on_exit EXIT

configure() {
  local arguments=()
  # Where the tests were configured before, they stay; otherwise what they need is not installed.
  if [[ ! -f ${BUILD}/CMakeCache.txt ]]; then arguments+=(-DPROOFMILL_TESTS=OFF); fi
  if [[ ${PRESET} == nocuda ]]; then arguments+=(-DPROOFMILL_CUDA=OFF); fi
  configure_release "${BUILD}" "${WORK}/configure.log" "${arguments[@]}"
}

gpu_is_visible() { [[ -e /dev/nvidiactl ]] || nvidia-smi -L >/dev/null 2>&1; }

# What is built, and how long that takes.
announce_build() {
  echo "optimised, in ${BUILD}, on ${JOBS} cores: about $(((BUILD_CORE_SECONDS / JOBS + 59) / 60)) minutes, less where much is built already"
  if grep -q 'proofmill backends:.*cuda (toolkit' "${WORK}/configure.log" && ! gpu_is_visible; then
    echo "the CUDA backend is built too, a tenth of it all, though no NVIDIA GPU is visible here: --no_cuda leaves it out"
  fi
}

prove_over_grpc() {
  "${PROGRAM}" client circuits --target "${SERVER_DATA}"
  "${PROGRAM}" client prove --target "${SERVER_DATA}" --circuit "${CIRCUIT}" \
    "${CIRCUITS}/${CIRCUIT}/canary.wtns" "${WORK}/proof.json" "${WORK}/public.json"
  echo "public signals: $(tr -d ' \n' <"${WORK}/public.json")"
}

show_metrics() {
  curl -sSf "http://${SERVER_METRICS}/metrics" >"${WORK}/metrics.txt"
  grep -E '^proofmill_(requests_total|request_duration_seconds_(sum|count)|proof_stage_duration_seconds_sum|circuit_loaded|device_up|queue_depth)' \
    "${WORK}/metrics.txt"
}

mkdir -p "${WORK}"
step_start "1/8 install packages"
install_packages build quickstart
step_start "2/8 configure"
configure
step_start "3/8 build"
announce_build
build_program "${BUILD}" "${JOBS}"
step_start "4/8 start the service"
server_start "${PROGRAM}" "${WORK}" --circuits "${CIRCUITS}" "${LISTEN[@]}"
echo "process ${SERVER_PID}; proofs: ${SERVER_DATA}, administration: ${SERVER_ADMIN}, metrics: http://${SERVER_METRICS}/metrics"
step_start "5/8 prove ${CIRCUIT} over gRPC"
prove_over_grpc
step_start "6/8 verify the proof"
"${PROGRAM}" verify "${CIRCUITS}/${CIRCUIT}/verification_key.json" "${WORK}/public.json" "${WORK}/proof.json"
step_start "7/8 show some metrics"
show_metrics
if [[ ${KEEP} -eq 1 ]]; then
  step_start "8/8 leave the service running"
  echo "process ${SERVER_PID}; proofs: ${SERVER_DATA}, administration: ${SERVER_ADMIN}, metrics: http://${SERVER_METRICS}/metrics"
  echo "log: ${WORK}/server.log; stop it with: kill ${SERVER_PID}"
else
  step_start "8/8 stop the service"
  server_stop
fi
step_finish
steps_table
grep 'proofmill backends:' "${WORK}/configure.log" | sed 's/^-- //'
echo "program: ${PROGRAM}"
echo "the quickstart passed in ${SECONDS} s"
