#!/bin/bash
# Proves a streamed witness of 64 MiB with the real service: too much for CI, so it is run by hand.
#
#   tests/e2e/large_witness.sh PROGRAM [LOG2_DOMAIN]     PROGRAM is the proofmill binary; LOG2_DOMAIN is 21 by default
#
# Needs 2 GiB of disk in TMPDIR and 4 GiB of memory; on 2 cores it takes some minutes, most of them for the key. Prints the
# time of each step and the peak memory of the service, and ends with OK.
set -Eeuo pipefail

PROGRAM=$(realpath "${1:?usage: large_witness.sh PROGRAM [LOG2_DOMAIN]}")
LOG2_DOMAIN=${2:-21}
FOLDER=$(mktemp -d)
SERVER=
cleanup() {
  [[ -z ${SERVER} ]] || kill "${SERVER}" 2>/dev/null || true
  wait
  rm -rf "${FOLDER}"
}
trap cleanup EXIT
trap 'echo "failed in line ${LINENO}" >&2' ERR
cd "${FOLDER}"
mkdir circuits

step() {
  local started=${SECONDS}
  "${@:2}"
  printf '%4d s  %s\n' "$((SECONDS - started))" "$1"
}

wait_until_ready() {
  until grep -q '^proofmill ready ' out; do
    kill -0 "${SERVER}" 2>/dev/null || { cat err >&2 && return 1; }
    sleep 0.2
  done
}

step "key and witness" "${PROGRAM}" synth --log2_domain "${LOG2_DOMAIN}" --public 3 circuits/large.zkey witness.wtns
printf '        witness %d bytes, key %d bytes\n' "$(stat -c %s witness.wtns)" "$(stat -c %s circuits/large.zkey)"
"${PROGRAM}" serve --circuits circuits --listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0 \
  --allow_insecure_keys --drain_delay 0s >out 2>err &
SERVER=$!
step "load and check the key" wait_until_ready
TARGET=$(sed -n 's/^proofmill ready data=\([^ ]*\).*/\1/p' out)
step "stream, prove and verify" "${PROGRAM}" client prove --target "${TARGET}" --circuit large --stream --deadline 10m \
  witness.wtns proof.json public.json
"${PROGRAM}" vkey circuits/large.zkey verification_key.json
[[ $("${PROGRAM}" verify verification_key.json public.json proof.json) == OK ]]
grep VmHWM "/proc/${SERVER}/status" | sed 's/VmHWM:/        peak memory of the service/'
kill -TERM "${SERVER}"
wait "${SERVER}"
SERVER=
echo OK
