#!/bin/bash
# From a fresh Debian 12 machine to a verified proof: installs the packages, builds the service, starts it with the bundled
# circuit, proves that circuit over gRPC, verifies the proof, shows a few metrics and stops the service.
#
#   ./deploy/quickstart.sh          as root, or as a user with sudo
#   ./deploy/quickstart.sh --keep   leaves the service running, on the default ports, and says how to reach and stop it
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
BUILD=${BUILD_ROOT}/release
JOBS=${PROOFMILL_JOBS:-$(nproc)}
PROGRAM=${BUILD}/cli/proofmill
CIRCUITS=deploy/examples/circuits
CIRCUIT=epoch-key-lite
WORK=${BUILD_ROOT}/quickstart

KEEP=0
LISTEN=(--listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0)
case ${1:-} in
  '') ;;
  --keep) KEEP=1 && LISTEN=() ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
esac
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
  configure_release "${BUILD}" "${WORK}/configure.log" "${arguments[@]}"
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
echo "the quickstart passed in ${SECONDS} s"
