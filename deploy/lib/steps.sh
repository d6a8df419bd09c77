# Named, timed steps for the project's scripts. Source it; it needs bash with `set -Eeuo pipefail`.
#
#   step_start NAME   ends the step before, if any, and prints what begins
#   step_finish       ends the last step
#   steps_table       prints every step with its seconds
# When a command fails, the exit trap that is set here prints the name of the step it failed in.

STEP_NAME=""
STEP_STARTED=0
STEP_TABLE=()

step_start() {
  step_finish
  STEP_NAME=$1
  STEP_STARTED=$SECONDS
  echo "==> ${STEP_NAME}"
}

step_finish() {
  [[ -n ${STEP_NAME} ]] || return 0
  local seconds=$((SECONDS - STEP_STARTED))
  STEP_TABLE+=("$(printf '%6d s  %s' "${seconds}" "${STEP_NAME}")")
  echo "<== ${STEP_NAME}: ${seconds} s"
  STEP_NAME=""
}

steps_table() {
  printf '%s\n' "${STEP_TABLE[@]}"
}

steps_report_failure() {
  local status=$1
  if [[ ${status} -ne 0 && -n ${STEP_NAME} ]]; then
    echo "FAILED in step \"${STEP_NAME}\" after $((SECONDS - STEP_STARTED)) s (exit status ${status})" >&2
  fi
}
trap 'steps_report_failure $?' EXIT
