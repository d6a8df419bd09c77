#!/bin/bash
# Shows that a newcomer's machine is enough: makes a clean Debian 12 root, clones this project into it (its HEAD, with shared/
# beside it when there is one) and runs the README's two commands there, with nothing installed by hand.
#
#   tests/fresh/run.sh               both commands, as root of that machine
#   tests/fresh/run.sh quickstart    only the first; "tests" for only the second
#   tests/fresh/run.sh --as_user     as an ordinary user who has sudo
#
# Needs root and mmdebstrap, and a Debian mirror. The root lives in a temporary folder (PROOFMILL_FRESH_PARENT, default /var/tmp)
# and is removed at the end; it runs in mount and process namespaces of its own, so that no mount and no process outlives it.
# It shares this machine's network, ports included.
set -Eeuo pipefail
PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "${PROJECT_ROOT}/deploy/lib/steps.sh"

QUICKSTART_SECONDS_MAX=600
COMMANDS=()
AS_USER=0
for argument in "$@"; do
  case ${argument} in
    quickstart) COMMANDS+=(./deploy/quickstart.sh) ;;
    tests) COMMANDS+=(./tests/run.sh) ;;
    --as_user) AS_USER=1 ;;
    *) echo "usage: tests/fresh/run.sh [--as_user] [quickstart] [tests]" >&2 && exit 2 ;;
  esac
done
if [[ ${#COMMANDS[@]} -eq 0 ]]; then COMMANDS=(./deploy/quickstart.sh ./tests/run.sh); fi
if [[ $(id -u) -ne 0 ]]; then echo "tests/fresh/run.sh needs root to make a root file system" >&2 && exit 2; fi
if ! command -v mmdebstrap >/dev/null; then
  echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2
  exit 2
fi

FRESH=$(mktemp -d "${PROOFMILL_FRESH_PARENT:-/var/tmp}/proofmill-fresh.XXXXXX")
ROOT=${FRESH}/root
cleanup() {
  local status=$?
  steps_report_failure "${status}"
  rm -rf --one-file-system "${FRESH}"
}
trap cleanup EXIT

# in_root COMMAND...: runs it inside, in the project's folder, with a clean environment.
in_root() {
  local environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)
  local name
  for name in http_proxy https_proxy no_proxy; do
    if [[ -n ${!name:-} ]]; then environment+=("${name}=${!name}"); fi
  done
  unshare --mount --pid --fork --kill-child --mount-proc="${ROOT}/proc" \
    chroot "${ROOT}" /usr/bin/env -i "${environment[@]}" bash -c 'cd /srv/proofmill && exec "$@"' bash "$@" </dev/null
}

# The machine's own apt sources stand for "a Debian mirror"; extra certificate authorities are this machine's, not the project's.
make_root() {
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "${ROOT}"
  mkdir -p "${ROOT}/usr/local/share/ca-certificates" "${ROOT}/srv"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "${ROOT}/usr/local/share/ca-certificates/" \;
}

clone_project() {
  git clone --quiet --no-hardlinks "${PROJECT_ROOT}" "${ROOT}/srv/proofmill"
  if [[ -d ${PROJECT_ROOT}/../shared ]]; then cp -r "${PROJECT_ROOT}/../shared" "${ROOT}/srv/shared"; fi
  in_root update-ca-certificates >/dev/null 2>&1
}

make_user() {
  in_root bash -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends sudo' >/dev/null
  in_root bash -c 'useradd -m newcomer && echo "newcomer ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/newcomer && chown -R newcomer /srv'
}

for command in "${COMMANDS[@]}"; do
  grep -qxF "${command}" "${PROJECT_ROOT}/README.md" || { echo "README.md has no line \"${command}\"" >&2 && exit 1; }
done
step_start "make a Debian 12 root"
make_root
step_start "clone the project into it"
clone_project
if [[ ${AS_USER} -eq 1 ]]; then
  step_start "make an ordinary user with sudo"
  make_user
fi
for command in "${COMMANDS[@]}"; do
  step_start "${command}"
  started=${SECONDS}
  if [[ ${AS_USER} -eq 1 ]]; then
    in_root sudo -H -u newcomer --preserve-env=NODE_EXTRA_CA_CERTS "${command}"
  else
    in_root "${command}"
  fi
  took=$((SECONDS - started))
  if [[ ${command} == *quickstart* && ${took} -gt ${QUICKSTART_SECONDS_MAX} ]]; then
    echo "the quickstart took ${took} s, at most ${QUICKSTART_SECONDS_MAX} s expected" >&2
    exit 1
  fi
done
step_finish
if grep -q "${FRESH}" /proc/self/mounts; then echo "a mount was left under ${FRESH}" >&2 && exit 1; fi
echo "fresh root: ${COMMANDS[*]} passed on $(nproc) cores"
steps_table
