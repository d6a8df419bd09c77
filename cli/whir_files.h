// The files that commands of WHIR read.

#ifndef PROOFMILL_CLI_WHIR_FILES_H_
#define PROOFMILL_CLI_WHIR_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/whir/files.h"

namespace proofmill::cli {

// Errors of ParseWhirStatement() with the name of the file, and of ReadTextFile().
absl::StatusOr<engine::WhirStatement> ReadWhirStatementFile(const std::string& path);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_WHIR_FILES_H_
