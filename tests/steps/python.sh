# The Python client, installed as its README says with Debian's own gRPC, against a service that misbehaves as it is told and against
# the real one.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

CLIENT=clients/python
INSTALLED=${BUILD_ROOT}/python
PYTHON=${INSTALLED}/venv/bin/python
export PROOFMILL=${BUILD_ROOT}/release/cli/proofmill PYTHONDONTWRITEBYTECODE=1 PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# Needs no registry: the messages are made by protoc, and gRPC is there.
install_client() {
  local script
  script=$(python3 tests/checks/readme_block.py "${CLIENT}/README.md" install)
  rm -rf "${INSTALLED}" "${CLIENT}/build"
  mkdir -p "${INSTALLED}"
  ln -s "${PROJECT_ROOT}/clients" "${INSTALLED}/clients"
  (cd "${INSTALLED}" && bash -Eeuo pipefail -c "${script}")
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
