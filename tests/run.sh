#!/bin/bash
# Builds proofmill in every way that matters and runs all of its tests.
#
#   ./tests/run.sh                     everything, as CI does
#   ./tests/run.sh --only asan,format  only some steps, by name or by the part of the name before the dash
#   ./tests/run.sh --list              the names of the steps
#
# Environment: PROOFMILL_BUILD_ROOT (default build/) and PROOFMILL_JOBS (default: one for each core).
# The last line is "N passed, N failed", over all steps, with ", N skipped" where tests that need a GPU found none.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STEPS=(packages node format tree proto release-build headers docs release-tests quickstart metrics monitoring chart image examples evm
  js python asan-build asan-tests tsan-build tsan-tests fuzz tidy)
export PROOFMILL_BUILD_ROOT=${PROOFMILL_BUILD_ROOT:-${PWD}/build}
RESULTS_ROOT=${PROOFMILL_BUILD_ROOT}/results

usage() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

# Prints the steps that the comma-separated selection names, in order.
select_steps() {
  local step chosen name known
  IFS=, read -ra chosen <<<"$1"
  for name in "${chosen[@]}"; do
    known=0
    for step in "${STEPS[@]}"; do [[ ${step} == "${name}" || ${step%%-*} == "${name}" ]] && known=1; done
    if [[ ${known} -eq 0 ]]; then
      echo "no step is called \"${name}\"; the steps are: ${STEPS[*]}" >&2
      exit 2
    fi
  done
  for step in "${STEPS[@]}"; do
    for name in "${chosen[@]}"; do
      if [[ ${step} == "${name}" || ${step%%-*} == "${name}" ]]; then echo "${step}" && break; fi
    done
  done
}

# run_step NAME: runs tests/steps/NAME.sh, however it ends, and sees to it that a failure is on record.
run_step() {
  local step=$1 status=0 started=${SECONDS} results=${RESULTS_ROOT}/$1
  echo "==> ${step}"
  : >"${results}"
  PROOFMILL_RESULTS_FILE=${results} bash "tests/steps/${step}.sh" </dev/null || status=$?
  if [[ ${status} -ne 0 ]] && ! grep -q '^failed' "${results}"; then
    printf 'failed\t1\tstep %s (exit status %d)\n' "${step}" "${status}" >>"${results}"
  fi
  STEP_SECONDS[${step}]=$((SECONDS - started))
  echo "<== ${step}: $(counts_of "${results}"), ${STEP_SECONDS[${step}]} s"
}

# counts_of FILE...: "N passed, N failed" over result files, and ", N skipped" if any.
counts_of() {
  cat "$@" | awk -F '\t' '{ n[$1] += $2 }
    END { printf "%d passed, %d failed", n["passed"], n["failed"]; if (n["skipped"]) printf ", %d skipped", n["skipped"] }'
}

backends_line() {
  grep -hE 'proofmill backends:' "${PROOFMILL_BUILD_ROOT}/release-configure.log" 2>/dev/null | sed 's/^-- //' | tail -1
}

SELECTED=("${STEPS[@]}")
case ${1:-} in
  '') ;;
  --only) mapfile -t SELECTED < <(select_steps "${2:?--only needs the names of steps}") ;;
  --list) printf '%s\n' "${STEPS[@]}" && exit 0 ;;
  --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
[[ ${#SELECTED[@]} -gt 0 ]] || exit 2

rm -rf "${RESULTS_ROOT}"
mkdir -p "${RESULTS_ROOT}"
declare -A STEP_SECONDS=()
for step in "${SELECTED[@]}"; do run_step "${step}"; done

echo
echo "seconds  step"
for step in "${SELECTED[@]}"; do
  printf '%7d  %-14s %s\n' "${STEP_SECONDS[${step}]}" "${step}" "$(counts_of "${RESULTS_ROOT}/${step}")"
done
printf '%7d  all\n' "${SECONDS}"
FILES=("${SELECTED[@]/#/${RESULTS_ROOT}/}")
cat "${FILES[@]}" | awk -F '\t' '$1 == "failed" { print "FAILED: " $3 }'
backends_line || true
counts_of "${FILES[@]}"
echo
cat "${FILES[@]}" | awk -F '\t' '$1 == "failed" { bad = 1 } END { exit bad }'
