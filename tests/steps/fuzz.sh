# Builds the fuzz targets with clang and runs each from its seeds for at least 10,000 executions.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset fuzz
mapfile -t targets < <(find "${BUILD_ROOT}/fuzz/tests/fuzz" -maxdepth 1 -type f -perm -u+x -name '*_fuzz' | sort)
if [[ ${#targets[@]} -eq 0 ]]; then
  record failed 1 "no fuzz target was built"
  exit 1
fi
for target in "${targets[@]}"; do
  check "fuzz $(basename "${target}")" bash tests/checks/fuzz_run.sh "${target}" 10000 "${BUILD_ROOT}/fuzz-work"
done
