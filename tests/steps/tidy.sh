# clang-tidy over the sources that changed lately, over all of them when that cannot be told. The analysis takes 7 s for a
# file with Abseil and 27 s for one with gRPC, so a run over all of them takes many minutes.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ! -f ${BUILD_ROOT}/release/compile_commands.json ]]; then
  record failed 1 "clang-tidy: no ${BUILD_ROOT}/release/compile_commands.json: build the release preset first"
  exit 1
fi
mapfile -t files < <(bash tests/checks/tidy_files.sh "${BUILD_ROOT}/release")
total=$(bash tests/checks/tidy_files.sh "${BUILD_ROOT}/release" --all | wc -l)
echo "clang-tidy on ${#files[@]} of ${total} files"
if [[ ${#files[@]} -eq 0 ]]; then
  record passed 1 "clang-tidy: nothing changed lately"
  exit 0
fi

# tidy_one FILE: prints its findings, if any, with the seconds it took.
tidy_one() {
  local started=${SECONDS} output status=0
  output=$(clang-tidy -p "$1" --quiet --extra-arg=-Wthread-safety --extra-arg=-Wno-unknown-warning-option "$2" 2>&1) || status=$?
  echo "$2: $((SECONDS - started)) s"
  if [[ ${status} -ne 0 ]]; then
    grep -vE '^[0-9]+ warnings?( and [0-9]+ errors?)? generated|^Suppressed|^Use -header-filter' <<<"${output}"
    return 1
  fi
}
export -f tidy_one
for file in "${files[@]}"; do printf '%s\n' "${file}"; done >"${BUILD_ROOT}/tidy-files"
check "clang-tidy on ${#files[@]} of ${total} files" \
  "${COMPILE_ENV[@]}" xargs -a "${BUILD_ROOT}/tidy-files" -P "${JOBS}" -I{} bash -c 'tidy_one "$@"' _ "${BUILD_ROOT}/release" {}
