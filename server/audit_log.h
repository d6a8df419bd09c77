// Who did what over the admin listener: one JSON object a line, for each of its calls but those for health.
//
//   {"time":"2026-01-31T12:00:00.000Z","event":"audit","method":"CircuitAdminService/UnloadCircuit",
//    "request_id":"r-...","trace_id":"...","peer":"ipv4:10.0.0.7:40000","tenant":"ops","api_key":"91b2c8d07e66",
//    "arguments":{"circuit":"rollup"},"code":"OK","duration_ms":1.5}
//
// Written to a file that only its owner may read, opened for each line, so that it can be moved away at any
// time; or, without a file, among the logs, whatever their level. A line that cannot be written to the file
// goes to the logs as an error, so that none is lost, and is counted.
//
// Thread safety: every method may be called from any thread; lines never mix.

#ifndef PROOFMILL_SERVER_AUDIT_LOG_H_
#define PROOFMILL_SERVER_AUDIT_LOG_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "nlohmann/json_fwd.hpp"
#include "server/log.h"

namespace proofmill::server {

class AuditLog {
 public:
  // `path` may be empty. `on_failure` is told of each line that could not be written. `log` must outlive
  // this.
  AuditLog(std::string path, Log& log, std::function<void()> on_failure);

  // Whether a line could be written now.
  //   INVALID_ARGUMENT  the file cannot be opened for appending.
  absl::Status Check();

  // Writes one line: the time, the event, and `fields`.
  void Write(const nlohmann::ordered_json& fields);

 private:
  absl::Status Append(const std::string& line);

  const std::string path_;
  Log& log_;
  const std::function<void()> on_failure_;
  engine::Mutex mu_;  // held while a line is written
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_AUDIT_LOG_H_
