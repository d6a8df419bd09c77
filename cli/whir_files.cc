#include "cli/whir_files.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"

namespace proofmill::cli {
namespace {

constexpr uint64_t kStatementBytesMax = uint64_t{256} << 20;

}  // namespace

absl::StatusOr<engine::WhirStatement> ReadWhirStatementFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, engine::ReadTextFile(path, kStatementBytesMax));
  auto statement = engine::ParseWhirStatement(text);
  if (statement.ok()) return statement;
  return absl::Status(statement.status().code(), absl::StrCat(path, ": ", statement.status().message()));
}

}  // namespace proofmill::cli
