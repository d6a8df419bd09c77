#!/bin/bash
# Renders the plain manifests in the folders beside this script from the chart, each with the values.yaml that lies there.
# Never change a proofmill.yaml by hand: a test compares them with the rendering.
#
#   deploy/kubernetes/render.sh            writes them
#   deploy/kubernetes/render.sh --check    fails if one is not what would be written
#
# Environment: HELM (default: helm).
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
HELM=${HELM:-helm}

# render FOLDER: the objects, without Helm's remarks on where each came from.
render() {
  echo "# Rendered from deploy/chart with deploy/kubernetes/$1/values.yaml by deploy/kubernetes/render.sh."
  "${HELM}" template proofmill ../chart --namespace proofmill --values "$1/values.yaml" 2>/dev/null | sed '/^# Source: /d; s/ *$//'
}

case ${1:-} in
  '' | --check) ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
esac
status=0
for folder in */; do
  folder=${folder%/}
  if [[ ${1:-} != --check ]]; then
    render "${folder}" >"${folder}/proofmill.yaml"
  elif ! render "${folder}" | diff -u "${folder}/proofmill.yaml" -; then
    echo "deploy/kubernetes/${folder}/proofmill.yaml is not the rendering of the chart: run deploy/kubernetes/render.sh" >&2
    status=1
  fi
done
exit "${status}"
