#!/bin/bash
# Shows that a newcomer's machine is enough: makes a clean Debian 12 root, clones this project into it (its HEAD, with shared/
# beside it when there is one) and runs the README's two commands there, with nothing installed by hand.
#
#   tests/fresh/run.sh               both commands, as root of that machine
#   tests/fresh/run.sh quickstart    only the first; "tests" for only the second
#   tests/fresh/run.sh --as_user     as an ordinary user who has sudo
#
# tests/fresh/image.sh does the same with the steps of the image. Needs root and mmdebstrap, and a Debian mirror. The root lives in a temporary folder (PROOFMILL_FRESH_PARENT, default /var/tmp)
# and is removed at the end; it runs in mount and process namespaces of its own, so that no mount and no process outlives it.
# It shares this machine's network, ports included.
set -Eeuo pipefail
PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "${PROJECT_ROOT}/deploy/lib/steps.sh"
. "${PROJECT_ROOT}/tests/fresh/root.sh"

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

make_user() {
  in_root bash -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends sudo' >/dev/null
  in_root bash -c 'useradd -m newcomer && echo "newcomer ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/newcomer && chown -R newcomer /srv'
}

for command in "${COMMANDS[@]}"; do
  grep -qxF "${command}" "${PROJECT_ROOT}/README.md" || { echo "README.md has no line \"${command}\"" >&2 && exit 1; }
done
ROOT=${FRESH}/root
step_start "make a Debian 12 root"
make_root ca-certificates
in_root update-ca-certificates >/dev/null 2>&1
step_start "clone the project into it"
clone_project /srv/proofmill
IN_ROOT=/srv/proofmill
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
no_mount_is_left
echo "fresh root: ${COMMANDS[*]} passed on $(nproc) cores"
steps_table
