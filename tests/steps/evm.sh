# The contract that snarkjs exports, compiled by Solidity's compiler and run by an Ethereum virtual machine, accepts what
# `proofmill calldata` prints and rejects everything that is altered in it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

WORK=${BUILD_ROOT}/evm
SHARED=${PROJECT_ROOT}/../shared/cases

# judge NAME KEY WITNESS
judge() {
  mkdir -p "${WORK}/$1"
  node tests/e2e/calldata_in_evm.mjs "${BUILD_ROOT}/release/cli/proofmill" "$2" "$3" "${WORK}/$1" >"${WORK}/$1.log" 2>&1 || {
    cat "${WORK}/$1.log"
    return 1
  }
  sed -n '1,2p; $p' "${WORK}/$1.log"
}

BUNDLED=deploy/examples/circuits/epoch-key-lite
check "evm: epoch-key-lite" judge epoch-key-lite "${BUNDLED}/circuit.zkey" "${BUNDLED}/canary.wtns"
if [[ -d ${SHARED}/semaphore-20 ]]; then
  check "evm: semaphore-20" judge semaphore-20 "${SHARED}/semaphore-20/circuit.zkey" "${SHARED}/semaphore-20/witness.wtns"
fi
