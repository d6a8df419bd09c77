# Clean Debian 12 roots for scripts. Source it after deploy/lib/steps.sh; needs bash with `set -Eeuo pipefail`, PROJECT_ROOT, root,
# mmdebstrap and a Debian mirror.
#
#   make_root [PACKAGE]...    makes a root at ROOT, with these packages besides the essential ones
#   clone_project FOLDER      clones the project's HEAD into FOLDER of it, with shared/ beside it when there is one
#   in_root COMMAND...        runs it inside, in the folder IN_ROOT, with a clean environment
#   no_mount_is_left          fails if a mount outlived what was run
# Everything lies in FRESH, a temporary folder that is removed at the end.
IN_ROOT=/

if [[ $(id -u) -ne 0 ]]; then echo "${0##*/} needs root to make a root file system" >&2 && exit 2; fi
if ! command -v mmdebstrap >/dev/null; then
  echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2
  exit 2
fi

FRESH=$(mktemp -d "${PROOFMILL_FRESH_PARENT:-/var/tmp}/proofmill-fresh.XXXXXX")
cleanup() {
  local status=$?
  steps_report_failure "${status}"
  rm -rf --one-file-system "${FRESH}"
}
trap cleanup EXIT

in_root() {
  local environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)
  local name
  for name in http_proxy https_proxy no_proxy; do
    if [[ -n ${!name:-} ]]; then environment+=("${name}=${!name}"); fi
  done
  unshare --mount --pid --fork --kill-child --mount-proc="${ROOT}/proc" \
    chroot "${ROOT}" /usr/bin/env -i "${environment[@]}" bash -c 'cd "$1" && shift && exec "$@"' bash "${IN_ROOT}" "$@" </dev/null
}

# The machine's own apt sources stand for "a Debian mirror"; extra certificate authorities are this machine's, not the project's.
make_root() {
  mmdebstrap --quiet --variant=minbase "${@/#/--include=}" bookworm "${ROOT}"
  mkdir -p "${ROOT}/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "${ROOT}/usr/local/share/ca-certificates/" \;
}

clone_project() {
  mkdir -p "$(dirname "${ROOT}$1")"
  git clone --quiet --no-hardlinks "${PROJECT_ROOT}" "${ROOT}$1"
  if [[ -d ${PROJECT_ROOT}/../shared ]]; then cp -r "${PROJECT_ROOT}/../shared" "$(dirname "${ROOT}$1")/shared"; fi
}

no_mount_is_left() {
  if grep -q "${FRESH}" /proc/self/mounts; then echo "a mount was left under ${FRESH}" >&2 && return 1; fi
}
