# The Python client, installed by pip with Debian's own gRPC, against a service that misbehaves as it is told and against the real
# one.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

CLIENT=clients/python
INSTALLED=${BUILD_ROOT}/python
PYTHON=/usr/bin/python3 # Debian's, which has its packages
export PROOFMILL=${BUILD_ROOT}/release/cli/proofmill PYTHONPATH=${INSTALLED} PYTHONDONTWRITEBYTECODE=1

# Needs no registry: the messages are made by protoc, and gRPC is there.
install_client() {
  rm -rf "${INSTALLED}" "${CLIENT}/build"
  "${PYTHON}" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-index --no-build-isolation --no-deps \
    --target "${INSTALLED}" "${CLIENT}"
}

# run_tests NAME: records the tests of tests/NAME.py by their number.
run_tests() {
  local log=${BUILD_ROOT}/python-$1.log count
  if (cd "${CLIENT}/tests" && "${PYTHON}" -m unittest -v "$1") </dev/null >"${log}" 2>&1; then
    count=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "${log}")
    record passed "${count}" "python: $1"
    grep -oE '[^ ]+: proofmill verify says OK.*' "${log}" || true
  else
    tail -n 60 "${log}"
    record failed 1 "python: $(sed -nE 's/^(ERROR|FAIL): //p' "${log}" | paste -sd ';')"
  fi
}

check "python: install" install_client
run_tests client_test
run_tests service_test
run_tests jobs_test
