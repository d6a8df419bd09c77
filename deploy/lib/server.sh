# Starts and stops a proofmill server for scripts. Source it; it needs bash with `set -Eeuo pipefail`.
#
#   server_start PROGRAM FOLDER FLAG...   starts `serve` in the background, its log in FOLDER/server.log, and waits until it is ready
#   server_stop                           SIGTERM, and fails unless the exit status is 0
# After server_start: SERVER_PID, SERVER_DATA, SERVER_ADMIN and SERVER_METRICS (addresses as HOST:PORT).

SERVER_PID=""
SERVER_READY_SECONDS_MAX=60

server_start() {
  local program=$1 folder=$2 log=$2/server.log ports=$2/ports deadline
  shift 2
  rm -f "${ports}"
  nohup "${program}" serve --port_file "${ports}" "$@" >"${log}" 2>&1 </dev/null &
  SERVER_PID=$!
  deadline=$((SECONDS + SERVER_READY_SECONDS_MAX))
  until grep -q "^metrics=" "${ports}" 2>/dev/null; do
    server_must_live "${log}"
    [[ ${SECONDS} -lt ${deadline} ]] || server_give_up "${log}" "did not open its listeners"
    sleep 0.1
  done
  SERVER_DATA=$(server_address "${ports}" data)
  SERVER_ADMIN=$(server_address "${ports}" admin)
  SERVER_METRICS=$(server_address "${ports}" metrics)
  until "${program}" client health --target "${SERVER_ADMIN}" >/dev/null 2>&1; do
    server_must_live "${log}"
    [[ ${SECONDS} -lt ${deadline} ]] || server_give_up "${log}" "did not become ready"
    sleep 0.1
  done
}

# server_address FILE NAME: the address of a listener in the port file.
server_address() {
  sed -n "s/^$2=//p" "$1"
}

server_must_live() {
  if kill -0 "${SERVER_PID}" 2>/dev/null; then return 0; fi
  local status=0
  wait "${SERVER_PID}" || status=$?
  SERVER_PID=""
  echo "the server ended with status ${status}; the end of its log:" >&2
  tail -n 20 "$1" >&2
  return 1
}

server_give_up() {
  echo "the server $2 within ${SERVER_READY_SECONDS_MAX} s; the end of its log:" >&2
  tail -n 20 "$1" >&2
  return 1
}

server_stop() {
  local status=0
  kill -TERM "${SERVER_PID}"
  wait "${SERVER_PID}" || status=$?
  SERVER_PID=""
  if [[ ${status} -ne 0 ]]; then
    echo "the server ended with status ${status} after SIGTERM, 0 expected" >&2
    return 1
  fi
}

# For exit traps: ends the server, if it still runs, without ceremony.
server_kill() {
  if [[ -n ${SERVER_PID} ]]; then kill -KILL "${SERVER_PID}" 2>/dev/null || true; fi
}
