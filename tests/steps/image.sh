# The Dockerfile is well formed, takes only files that are there, and installs the libraries that the program needs. Each check
# is tested too: it rejects what is planted for it. tests/fresh/image.sh runs the steps of the image, in clean Debian roots.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. tests/steps/deploy_tools.sh

PROGRAM=${BUILD_ROOT}/release/cli/proofmill
PACKAGES=(python3 tests/deploy/image/runtime_packages.py "${PROGRAM}" deploy/packages.txt)

check "Dockerfile" node tests/deploy/image/check.mjs
check "Dockerfile: the checks find planted mistakes" node tests/deploy/image/check.mjs --self_test
check "image: the packages are those that the program needs" "${PACKAGES[@]}"
check "image: the comparison finds planted mistakes" "${PACKAGES[@]}" --self_test
check "image: usage is told" bash -c '! deploy/image.sh packages 2>/dev/null && ! deploy/image.sh build cuda /out 2>/dev/null'
