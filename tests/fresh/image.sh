#!/bin/bash
# Shows that the steps of the Dockerfile make an image that works, without Docker: runs those of the CPU-only target in two clean
# Debian 12 roots, one that builds and one that runs, and has the service prove in the second, whose root is read-only, as the
# user of the image.
#
#   tests/fresh/image.sh                   builds this project's HEAD and runs it
#   tests/fresh/image.sh --program FILE    runs a program that is there already
#
# Needs what tests/fresh/run.sh needs.
set -Eeuo pipefail
PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PROGRAM=""
case ${1:-} in
  '') ;;
  --program) PROGRAM=$(realpath "${2:?--program needs a file}") ;;
  *) echo "usage: tests/fresh/image.sh [--program FILE]" >&2 && exit 2 ;;
esac
. "${PROJECT_ROOT}/deploy/lib/steps.sh"
. "${PROJECT_ROOT}/tests/fresh/root.sh"

# step COMMAND...: one RUN of the Dockerfile, where it must stand.
step() {
  step_start "RUN $*"
  grep -qE "^RUN (--mount=\S+ )?$*\$" "${PROJECT_ROOT}/Dockerfile" || { echo "the Dockerfile has no RUN \"$*\"" >&2 && return 1; }
  in_root "$@"
}

build() {
  ROOT=${FRESH}/build
  step_start "make the root that builds"
  make_root
  clone_project /src
  IN_ROOT=/src
  step deploy/image.sh packages build
  step deploy/image.sh build cpu /out
}

# What COPY and the mounts do.
assemble() {
  ROOT=${FRESH}/runtime
  IN_ROOT=/
  step_start "make the root that runs"
  make_root
  mkdir -p "${ROOT}/run/src" "${ROOT}/circuits"
  cp -r "${PROJECT_ROOT}/deploy" "${ROOT}/run/src/"
  step /run/src/deploy/image.sh packages runtime
  step /run/src/deploy/image.sh user
  rm -rf "${ROOT}/run/src"
  if [[ -n ${PROGRAM} ]]; then install -D "${PROGRAM}" "${ROOT}/usr/bin/proofmill"; else cp -r "${FRESH}/build/out/." "${ROOT}/"; fi
  cp -r "${PROJECT_ROOT}/deploy/examples/circuits/." "${ROOT}/circuits/"
}

# In the root, as the image's user: the command of the image, with ports that the kernel chooses.
SERVICE='set -Eeuo pipefail
[[ $(id -u):$(id -g) == "$1" ]] || { echo "runs as $(id -u):$(id -g), $1 expected" >&2; exit 1; }
if touch /usr/bin/planted /planted 2>/dev/null; then echo "the root can be written to" >&2; exit 1; fi
state=/var/lib/proofmill circuit=/circuits/epoch-key-lite
proofmill serve --circuits /circuits --state_dir "${state}" --port_file "${state}/ports" \
  --listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0 &
server=$!
for ((i = 0; i < 600; ++i)); do
  admin=$(sed -n "s/^admin=//p" "${state}/ports" 2>/dev/null || true)
  if [[ -n ${admin} ]] && proofmill client health --target "${admin}"; then break; fi
  kill -0 "${server}" && sleep 0.1
done
proofmill client prove --target "$(sed -n "s/^data=//p" "${state}/ports")" --circuit epoch-key-lite "${circuit}/canary.wtns" /tmp/proof.json /tmp/public.json
proofmill verify "${circuit}/verification_key.json" /tmp/public.json /tmp/proof.json
kill -TERM "${server}"
wait "${server}"
echo "the service ended with status 0"'

run_service() {
  local user
  user=$(sed -n 's/^USER //p' "${PROJECT_ROOT}/Dockerfile")
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -Eeuo pipefail -c 'root=$1 user=$2
    mount --bind "${root}" "${root}"
    mount -t proc proc "${root}/proc"
    mount -t tmpfs tmpfs "${root}/tmp"
    mount -t tmpfs -o "mode=700,uid=${user%:*},gid=${user#*:}" tmpfs "${root}/var/lib/proofmill"
    mount -o remount,bind,ro "${root}"
    exec chroot --userspec="${user}" "${root}" /usr/bin/env -i PATH=/usr/bin:/bin bash -c "$3" bash "${user}"' \
    bash "${ROOT}" "${user}" "${SERVICE}" </dev/null
}

if [[ -z ${PROGRAM} ]]; then build; fi
assemble
step_start "prove in it"
run_service
step_finish
no_mount_is_left
echo "image: the steps of the Dockerfile passed on $(nproc) cores"
steps_table
