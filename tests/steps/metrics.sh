# The metrics endpoint of a running server passes promtool, and has exactly the metrics that docs/metrics.md lists.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. deploy/lib/packages.sh
. deploy/lib/server.sh
. tests/steps/prometheus_tools.sh

WORK=${BUILD_ROOT}/metrics
PROGRAM=${BUILD_ROOT}/release/cli/proofmill
CIRCUITS=deploy/examples/circuits

scrape() {
  server_start "${PROGRAM}" "${WORK}" --circuits "${CIRCUITS}" \
    --listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0
  "${PROGRAM}" client prove --target "${SERVER_DATA}" --circuit epoch-key-lite \
    "${CIRCUITS}/epoch-key-lite/canary.wtns" "${WORK}/proof.json" "${WORK}/public.json"
  curl -sSf "http://${SERVER_METRICS}/metrics" >"${WORK}/metrics.txt"
  server_stop
}

# promtool accepts an empty input, so that is refused first.
promtool_accepts() {
  [[ -s $1 ]] && "${PROMTOOL}" check metrics <"$1"
}

# The control: a metric that promtool must complain about.
promtool_refuses_a_bad_metric() {
  printf '# HELP planted_milliseconds Planted.\n# TYPE planted_milliseconds counter\nplanted_milliseconds 1\n' >"${WORK}/planted.txt"
  ! "${PROMTOOL}" check metrics <"${WORK}/planted.txt"
}

mkdir -p "${WORK}"
trap server_kill EXIT
scrape
check "promtool check metrics" promtool_accepts "${WORK}/metrics.txt"
check "promtool refuses a bad metric" promtool_refuses_a_bad_metric
check "docs/metrics.md lists every metric" python3 tests/checks/metrics_documented.py "${WORK}/metrics.txt" docs/metrics.md
