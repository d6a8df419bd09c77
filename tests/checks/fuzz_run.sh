#!/bin/bash
# Runs one libFuzzer program from its seeds (tests/fuzz/seeds/NAME) and fails unless it executed often enough without a finding.
# usage: fuzz_run.sh PROGRAM EXECUTIONS WORK_FOLDER    a finding is left in WORK_FOLDER/NAME
set -Eeuo pipefail
program=$1 executions=$2
name=$(basename "${program}")
work=$3/${name}
seeds=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/fuzz/seeds/${name%_fuzz}

if [[ ! -d ${seeds} || -z $(ls -A "${seeds}") ]]; then
  echo "${name}: no seeds in ${seeds}" >&2
  exit 1
fi
rm -rf "${work}"
mkdir -p "${work}/corpus"
log=${work}/log
if ! "${program}" -runs="${executions}" -seed=1 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="${work}/" "${work}/corpus" "${seeds}" >"${log}" 2>&1; then
  tail -n 60 "${log}" >&2
  exit 1
fi
done_count=$(sed -nE 's/^stat::number_of_executed_units: +([0-9]+)$/\1/p' "${log}")
coverage=$(grep -oE 'cov: [0-9]+' "${log}" | tail -1)
echo "${name}: ${done_count:-0} executions from $(find "${seeds}" -type f | wc -l) seeds, ${coverage:-cov: ?}"
[[ ${done_count:-0} -ge ${executions} ]]
