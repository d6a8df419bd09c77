// The status of a service for people and programs.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_STATUS_REPORT_H_
#define PROOFMILL_CLI_STATUS_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proofmill/v1/status.pb.h"

namespace proofmill::cli {

// A few lines about the process, and tables of its devices and circuits.
std::string StatusToText(const v1::GetStatusResponse& status);
// An object with all that the service tells.
nlohmann::ordered_json StatusToJson(const v1::GetStatusResponse& status);

// "debug", "info", "warn", "error".
const char* LogLevelName(v1::LogLevel level);
//   INVALID_ARGUMENT  another word.
absl::StatusOr<v1::LogLevel> ParseLogLevel(absl::string_view name);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_STATUS_REPORT_H_
