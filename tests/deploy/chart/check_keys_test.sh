#!/bin/bash
# What the chart's init container does with good and bad folders of keys.
# usage: check_keys_test.sh WORK    (run from the project's root)
set -Eeuo pipefail
SCRIPT=${PWD}/deploy/chart/files/check-keys.sh
WORK=$1
FAILED=0

# fresh: a folder with two circuits, one in a folder of its own, and the list of their hashes.
fresh() {
  rm -rf "${WORK}"
  mkdir -p "${WORK}/keys/a"
  echo one >"${WORK}/keys/a/circuit.zkey"
  echo two >"${WORK}/keys/b+c.zkey"
  (cd "${WORK}/keys" && b2sum a/circuit.zkey b+c.zkey >"${WORK}/b2sums")
}

# expect STATUS WHAT: the script ends with it, and says on standard error what is wrong.
expect() {
  local status=0
  sh "${SCRIPT}" "${WORK}/keys" "${WORK}/b2sums" >"${WORK}/out" 2>"${WORK}/err" || status=$?
  if [[ ${status} -ne $1 || ($1 -ne 0 && ! -s ${WORK}/err) ]]; then
    echo "$2: expected status $1, got ${status}: $(cat "${WORK}/out" "${WORK}/err")"
    FAILED=1
  fi
}

fresh && expect 0 "keys as listed"
fresh && echo >"${WORK}/keys/a/canary.wtns" && expect 0 "what is no key is not looked at"
fresh && mkdir "${WORK}/keys/..data" && mv "${WORK}/keys/b+c.zkey" "${WORK}/keys/..data/" &&
  ln -s ..data/b+c.zkey "${WORK}/keys/b+c.zkey" && expect 0 "a key that is a link"
fresh && echo changed >"${WORK}/keys/a/circuit.zkey" && expect 1 "a key that was changed"
fresh && rm "${WORK}/keys/b+c.zkey" && expect 1 "a key that is missing"
fresh && echo three >"${WORK}/keys/c.zkey" && expect 1 "a key that nobody listed"
fresh && echo three >"${WORK}/keys/bc.zkey" && expect 1 "a key that is listed by no more than a pattern"
fresh && mkdir "${WORK}/keys/d" && echo 3 >"${WORK}/keys/d/circuit.zkey" && expect 1 "a folder that nobody listed"
fresh && echo nonsense >>"${WORK}/b2sums" && expect 1 "a list with a line that is none"
fresh && sed -i 's/^[0-9a-f]*/0123/' "${WORK}/b2sums" && expect 1 "a hash that is too short"
fresh && : >"${WORK}/b2sums" && expect 1 "an empty list"
exit "${FAILED}"
