# Installs the pinned npm packages of tests/package-lock.json: snarkjs, buf, the Solidity compiler and an Ethereum virtual machine.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Nothing to do when the installed tree is that of this lock file.
STAMP=tests/node_modules/.proofmill-lock
if ! cmp -s tests/package-lock.json "${STAMP}"; then
  npm ci --prefix tests --no-audit --no-fund
  cp tests/package-lock.json "${STAMP}"
fi
record passed 1 "npm packages installed"
