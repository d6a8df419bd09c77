# Prometheus and its promtool, for the steps that need them. Source it after common.sh and deploy/lib/packages.sh.
PROMTOOL=${BUILD_ROOT}/tools/promtool
PROMETHEUS=${BUILD_ROOT}/tools/prometheus

# Installing Debian's prometheus would start a daemon, so the two programs are taken out of the package.
fetch_prometheus() {
  local folder=${BUILD_ROOT}/tools/prometheus-package
  rm -rf "${folder}"
  mkdir -p "${folder}"
  (cd "${folder}" && apt-get -q download prometheus 2>/dev/null) || {
    apt_update
    (cd "${folder}" && apt-get -q download prometheus)
  }
  dpkg -x "${folder}"/prometheus_*.deb "${folder}"
  mv "${folder}/usr/bin/promtool" "${folder}/usr/bin/prometheus" "${BUILD_ROOT}/tools/"
  rm -rf "${folder}"
}

if [[ ! -x ${PROMTOOL} || ! -x ${PROMETHEUS} ]]; then fetch_prometheus; fi
