# The JavaScript client, against a service that misbehaves as it is told and against the real one, in Node and in Chromium; and the way
# of docs/own-circuit.md from a circuit to a proof, with the circom and the snarkjs of the client's tests.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. deploy/lib/server.sh

CLIENT=clients/js
LOG=${BUILD_ROOT}/js-tests.tap
export PROOFMILL=${BUILD_ROOT}/release/cli/proofmill

# Nothing to do when the installed tree is that of this lock file.
install_client_packages() {
  local stamp=${CLIENT}/node_modules/.proofmill-lock
  if cmp -s "${CLIENT}/package-lock.json" "${stamp}"; then return 0; fi
  npm ci --prefix "${CLIENT}" --no-audit --no-fund && cp "${CLIENT}/package-lock.json" "${stamp}"
}

# count_of OUTCOME: how many tests ended so, as the last lines of the log say.
count_of() { sed -nE "s/^# $1 ([0-9]+)\$/\1/p" "${LOG}"; }

# Names what failed, and shows why.
record_tests() {
  local status=$1 passed failed
  passed=$(count_of pass)
  failed=$(($(count_of fail) + $(count_of cancelled)))
  if [[ ${failed} -gt 0 || ${status} -ne 0 || ${passed:-0} -eq 0 ]]; then
    grep -vE '^ *(ok |# Subtest|duration_ms|---|\.\.\.)' "${LOG}" | tail -n 80
    record failed "$((failed > 0 ? failed : 1))" "js: $(sed -nE 's/^ *not ok [0-9]+ - //p' "${LOG}" | paste -sd ';')"
  fi
  [[ ${passed:-0} -eq 0 ]] || record passed "${passed}" "js: tests"
  grep -E 'snarkjs says OK' "${LOG}" | sed 's/^# //' || true
}

check "js: packages installed" install_client_packages
check "js: format" "${CLIENT}/node_modules/.bin/prettier" --check --log-level warn --config "${CLIENT}/.prettierrc.json" \
  --ignore-path "${CLIENT}/.prettierignore" "${CLIENT}"
check "js: build" npm run --prefix "${CLIENT}" --silent build
check "js: build of tests and of the example page" npm run --prefix "${CLIENT}" --silent build:tests
status=0
(cd "${CLIENT}" && node --test --test-reporter=tap build/*.test.js) </dev/null >"${LOG}" 2>&1 || status=$?
record_tests "${status}"

OWN=${BUILD_ROOT}/own-circuit

# own_circuit NAME [PAGE]: runs the blocks of that name, each line of which must succeed.
own_circuit() {
  local script
  script=$(python3 tests/checks/readme_block.py "docs/${2:-own-circuit}.md" "$1" | sed "s/127\.0\.0\.1:50051/${SERVER_DATA:-}/g")
  (
    cd "${OWN}"
    export PATH=${PROJECT_ROOT}/${CLIENT}/node_modules/.bin:$(dirname "${PROOFMILL}"):${PATH}
    bash -Eeuo pipefail -c 'npx() { "$@"; }'$'\n'"${script}"
  ) </dev/null >"${OWN}/$1.log" 2>&1 || {
    tail -n 20 "${OWN}/$1.log"
    return 1
  }
}

rm -rf "${OWN}"
mkdir -p "${OWN}"
trap server_kill EXIT
check "own circuit: a key from circom and snarkjs" own_circuit own-circuit-key
server_start "${PROOFMILL}" "${OWN}" --circuits "${OWN}/circuits" --listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0
check "own circuit: a proof that snarkjs accepts" own_circuit own-circuit-prove
check "own circuit: a constraint by its number" own_circuit own-circuit-constraint errors
check "own circuit: it has the signals' names" grep -q 'main\.x.*main\.y.*main\.out' "${OWN}/own-circuit-constraint.log"
server_stop
