# The alerts fire when they should and only then, each has an entry in the runbook, and all that rules and dashboards ask for is
# exported by a running server. The checks are tested too: they reject what is planted for them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. deploy/lib/packages.sh
. deploy/lib/server.sh
. tests/steps/prometheus_tools.sh

WORK=${BUILD_ROOT}/monitoring
PROGRAM=${BUILD_ROOT}/release/cli/proofmill
CIRCUITS=deploy/examples/circuits
CONFIG=deploy/prometheus/prometheus.example.yml
RULES=deploy/prometheus/proofmill.rules.yml
TESTS=tests/deploy/prometheus
DASHBOARDS=(deploy/grafana/*.json)

rule_count() { "${PROMTOOL}" check rules "${RULES}" | sed -nE 's/^ *SUCCESS: ([0-9]+) rules found$/\1/p'; }

# prove CIRCUIT
prove() {
  "${PROGRAM}" client prove --target "${SERVER_DATA}" --circuit "$1" "${CIRCUITS}/epoch-key-lite/canary.wtns" \
    "${WORK}/proof.json" "${WORK}/public.json"
}

# Makes one proof and refuses one request, so that the series of both are there.
serve() {
  server_start "${PROGRAM}" "${WORK}" --circuits "${CIRCUITS}" \
    --listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0
  prove epoch-key-lite
  ! prove no-such-circuit 2>"${WORK}/refused.log"
}

mkdir -p "${WORK}"
trap server_kill EXIT
export PYTHONDONTWRITEBYTECODE=1
check "promtool check config" "${PROMTOOL}" check config "${CONFIG}"
for test in firing silent absent; do
  check "alerts: ${test}" "${PROMTOOL}" test rules "${TESTS}/${test}.yml"
done
check "alerts: the tests reject mutants" python3 tests/checks/monitoring_mutants.py \
  "${PROMTOOL}" "${RULES}" "${TESTS}" "${WORK}/mutants"
check "rules, runbook and dashboards agree" python3 tests/checks/monitoring.py \
  "$(rule_count)" "${RULES}" docs/metrics.md docs/runbook.md "${DASHBOARDS[@]}"
check "rules, runbook and dashboards: rejects planted mistakes" python3 tests/checks/monitoring.py --self_test
serve
check "Prometheus finds all that rules and dashboards ask for" python3 tests/checks/monitoring_live.py \
  "${PROMETHEUS}" "${SERVER_METRICS}" "${WORK}/prometheus" "${CONFIG}" "${RULES}" "${DASHBOARDS[@]}"
server_stop
