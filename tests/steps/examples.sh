# Runs the README's examples as they stand there: the command line, the client, grpcurl (played by buf) and the C++ program.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. deploy/lib/server.sh

WORK=${BUILD_ROOT}/examples
export PATH=${BUILD_ROOT}/release/cli:${BUILD_ROOT}/release/tests/checks/examples:${PATH}

# Debian has no grpcurl. buf speaks the same protocol, with server reflection; this maps the forms that the README uses.
grpcurl() {
  local arguments=(--protocol grpc --http2-prior-knowledge) address
  shift  # -plaintext
  if [[ $1 == -d ]]; then arguments+=(-d @-) && shift 2; fi
  address=$1
  if [[ $2 == list ]]; then
    "${PROJECT_ROOT}/tests/node_modules/.bin/buf" curl "${arguments[@]}" --list-methods "http://${address}"
  else
    "${PROJECT_ROOT}/tests/node_modules/.bin/buf" curl "${arguments[@]}" "http://${address}/$2"
  fi
}

# run_block NAME: runs the README's block as a script, each line of which must succeed, with the addresses of the running server.
# Its output goes to NAME.log and is shown if the block fails.
run_block() {
  local script log=${WORK}/$1.log
  script=$(python3 "${PROJECT_ROOT}/tests/checks/readme_block.py" "${PROJECT_ROOT}/README.md" "$1" |
    sed "s/127\.0\.0\.1:50051/${SERVER_DATA}/g; s/127\.0\.0\.1:50052/${SERVER_ADMIN}/g; s/127\.0\.0\.1:9464/${SERVER_METRICS}/g")
  (cd "${WORK}" && PROJECT_ROOT=${PROJECT_ROOT} bash -Eeuo pipefail -c "$(declare -f grpcurl)"$'\n'"${script}") </dev/null >"${log}" 2>&1 || {
    tail -n 20 "${log}"
    return 1
  }
  echo "README: $1: $(wc -l <"${log}") lines of output"
}

rm -rf "${WORK}"
mkdir -p "${WORK}"
ln -s "${PROJECT_ROOT}/deploy" "${WORK}/deploy"
trap server_kill EXIT
server_start proofmill "${WORK}" --circuits deploy/examples/circuits \
  --listen 127.0.0.1:0 --admin_listen 127.0.0.1:0 --metrics_listen 127.0.0.1:0
for block in command-line client load grpcurl cpp; do
  check "README: ${block}" run_block "${block}"
done
server_stop
