#!/bin/sh
# Refuses a folder of circuits with a key that has another hash than is listed, that is listed and not there, or that nobody
# listed. Runs in a pod before the service does.
#
#   check-keys.sh FOLDER B2SUMS    B2SUMS: lines as b2sum writes them, BLAKE2b-512 in hex, two spaces, path below FOLDER
set -eu
folder=$1
sums=$2
cd "${folder}"
status=0
b2sum --check --strict --quiet "${sums}" || status=1
# A key may be a link, as those of a mounted ConfigMap are; find -L follows it.
unlisted=$(find -L . -type f -name '*.zkey' -not -path './..*' | sed 's|^\./||' | while read -r key; do
  grep -qxE "[0-9a-f]{128}  $(printf '%s' "${key}" | sed 's/[.[\*^$+?(){}|]/\\&/g')" "${sums}" || echo "${key}"
done)
if [ -n "${unlisted}" ]; then
  printf 'keys: expected only those of %s, got also: %s\n' "${sums}" "$(echo "${unlisted}" | tr '\n' ' ')" >&2
  status=1
fi
if [ "${status}" -ne 0 ]; then
  echo "keys: the circuits in ${folder} are not those that were listed; nothing is started" >&2
  exit 1
fi
echo "keys: $(grep -c . "${sums}") keys have the hashes that were listed"
