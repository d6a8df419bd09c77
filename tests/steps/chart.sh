# The chart renders to objects that Kubernetes takes and that fit together, with settings that the service takes; the plain
# manifests are its renderings. Each check is tested too: it rejects what is planted for it. No cluster is needed.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. deploy/lib/packages.sh
. tests/steps/deploy_tools.sh
. tests/steps/prometheus_tools.sh

WORK=${BUILD_ROOT}/chart
TESTS=tests/deploy/chart
PROGRAM=${BUILD_ROOT}/release/cli/proofmill
CIRCUITS=deploy/examples/circuits
# What an operator brings besides the chart.
ELSEWHERE=("Secret proofmill-tls" "Secret certificate" "Secret registry" "Secret api-keys"
  "PersistentVolumeClaim proofmill-circuits" "PersistentVolumeClaim keys")

quietly() { "$@" >"${WORK}/quietly.log" 2>&1 || { cat "${WORK}/quietly.log" && return 1; }; }
refuses() { ! "$@" >"${WORK}/refused.log" 2>&1; }

# values CASE: the values of a case, with the hash of the bundled key where it stands for one.
values() { sed "s/@KEY_HASH@/$(b2sum "${CIRCUITS}/epoch-key-lite/circuit.zkey" | cut -d ' ' -f 1)/" "${TESTS}/cases/$1.yaml"; }
render() { "${HELM}" template proofmill deploy/chart --namespace proofs --values "${WORK}/$1.values.yaml" >"${WORK}/$1.yaml" 2>"${WORK}/$1.log" || { cat "${WORK}/$1.log" && return 1; }; }
judge() { node "${TESTS}/check.mjs" "${WORK}/$1.yaml" "${@:2}" "${ELSEWHERE[@]}"; }

# takes CASE [SETTING]: the service accepts the configuration of a rendering, with a line added to it.
takes() {
  node "${TESTS}/part_of.mjs" "${WORK}/$1.yaml" config >"${WORK}/proofmill.yaml"
  echo "${2:-}" >>"${WORK}/proofmill.yaml"
  # There may be no GPU here; that the backend fits the pod is checked with the objects.
  local flags=(--backend cpu --circuits "${CIRCUITS}" --state_dir "${WORK}/state")
  if grep -q '^tls_cert:' "${WORK}/proofmill.yaml"; then flags+=(--tls_cert "${WORK}/tls.crt" --tls_key "${WORK}/tls.key"); fi
  if grep -q '^tls_client_ca:' "${WORK}/proofmill.yaml"; then flags+=(--tls_client_ca "${WORK}/tls.crt"); fi
  if grep -q '^api_key_file:' "${WORK}/proofmill.yaml"; then flags+=(--api_key_file "${WORK}/api_keys"); fi
  if grep -q '^tenant_file:' "${WORK}/proofmill.yaml"; then
    node "${TESTS}/part_of.mjs" "${WORK}/$1.yaml" tenants >"${WORK}/tenants"
    flags+=(--tenant_file "${WORK}/tenants")
  fi
  "${PROGRAM}" serve --config "${WORK}/proofmill.yaml" "${flags[@]}" --check_config
}

# Values that must not render, as --set takes them.
BAD_VALUES=(replicas=0 repicas=1 gpu.count=0 gpu.cuont=1 tls.existingSecret= circuits.existingClaim= circuits.hashes.a\\.zkey=12
  circuits.hashes.readme=0 config.listen=x config.lsten=x listenAddress=localhost drain.graceSeconds=soon
  autoscaling.enabled=true image.pullPolicy=Sometimes service.port=1)

# rules_of FILE: how many rules promtool finds in it.
rules_of() { "${PROMTOOL}" check rules "$1" | sed -nE 's/^ *SUCCESS: ([0-9]+) rules found$/\1/p'; }

# Prometheus takes the rules of the chart, all of them, with links to the runbook that lead where the values say.
has_all_rules() {
  node "${TESTS}/part_of.mjs" "${WORK}/jobs.yaml" rules >"${WORK}/rules.yml"
  local expected links
  expected=$(rules_of deploy/prometheus/proofmill.rules.yml)
  links=$(grep -c 'runbook_url: https://git.example/proofmill/blob/main/docs/runbook.md#' "${WORK}/rules.yml")
  [[ ${expected} -gt 0 && $(rules_of "${WORK}/rules.yml") == "${expected}" && ${links} -eq $(grep -c 'alert:' "${WORK}/rules.yml") ]]
}

lint_refuses_a_broken_template() {
  rm -rf "${WORK}/broken"
  cp -rL deploy/chart "${WORK}/broken"
  echo "x: {{ .Values.nobody.wrote.this }}" >"${WORK}/broken/templates/broken.yaml"
  refuses "${HELM}" lint --strict "${WORK}/broken"
}

check_refuses_a_changed_manifest() {
  rm -rf "${WORK}/changed"
  mkdir -p "${WORK}/changed"
  cp -rL deploy/chart deploy/kubernetes "${WORK}/changed/"
  sed -i 's/replicas: 2/replicas: 3/' "${WORK}/changed/kubernetes/deployment/proofmill.yaml"
  refuses bash "${WORK}/changed/kubernetes/render.sh" --check
}

parse_refuses_a_key_twice() {
  cp deploy/gateway/envoy.yaml "${WORK}/twice.yaml"
  echo "static_resources: {}" >>"${WORK}/twice.yaml"
  refuses node "${TESTS}/parse.mjs" "${WORK}/twice.yaml"
}

kustomize_refuses_a_missing_file() {
  mkdir -p "${WORK}/empty"
  cp deploy/kubernetes/jobs/kustomization.yaml "${WORK}/empty/"
  refuses "${KUBECTL}" kustomize "${WORK}/empty"
}

chart_has_the_version_of_the_project() {
  local version
  version=$(sed -nE 's/^project\(proofmill VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
  [[ -n ${version} ]] && grep -qx "appVersion: ${version}" deploy/chart/Chart.yaml
}

rm -rf "${WORK}"
mkdir -p "${WORK}/state"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=proofmill -days 2 \
  -keyout "${WORK}/tls.key" -out "${WORK}/tls.crt" 2>/dev/null
rm -f "${WORK}/client.key"
"${PROGRAM}" api-key rollup --key_file "${WORK}/client.key" >"${WORK}/api_keys"
check "chart: version" chart_has_the_version_of_the_project
for file in "${TESTS}"/cases/*.yaml; do
  case=$(basename "${file}" .yaml)
  values "${case}" >"${WORK}/${case}.values.yaml"
  check "chart: ${case}: helm lint" quietly "${HELM}" lint --strict deploy/chart --values "${WORK}/${case}.values.yaml"
  check "chart: ${case}: helm template" render "${case}"
  check "chart: ${case}: objects" judge "${case}"
  check "chart: ${case}: the checks find planted mistakes" judge "${case}" --self_test
  check "chart: ${case}: the service takes its settings" quietly takes "${case}"
  check "chart: ${case}: the service refuses a planted setting" refuses takes "${case}" "queue_jobs_max: none"
done
check "chart: every mistake is planted somewhere" judge jobs --self_test --all
for value in "${BAD_VALUES[@]}"; do
  check "chart: refuses ${value}" refuses "${HELM}" template proofmill deploy/chart --set "${value}"
done
check "chart: lint refuses a broken template" lint_refuses_a_broken_template
check "chart: has the rules for Prometheus" has_all_rules
check "chart: keys are checked by hash" bash "${TESTS}/check_keys_test.sh" "${WORK}/check-keys"
check "manifests: are the renderings" deploy/kubernetes/render.sh --check
check "manifests: the comparison finds a change" check_refuses_a_changed_manifest
for folder in deploy/kubernetes/*/; do
  check "manifests: kubectl kustomize ${folder}" quietly "${KUBECTL}" kustomize "${folder}"
done
check "manifests: kustomize refuses a missing file" kustomize_refuses_a_missing_file
check "gateway: the example of Envoy is YAML" node "${TESTS}/parse.mjs" deploy/gateway/envoy.yaml
check "gateway: a key that is there twice is refused" parse_refuses_a_key_twice
