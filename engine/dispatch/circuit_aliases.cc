#include "engine/dispatch/circuit_aliases.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/status_macros.h"
#include "engine/dispatch/circuit.h"
#include "engine/formats/atomic_file.h"
#include "engine/formats/file.h"

namespace proofmill::engine {
namespace {

constexpr uint64_t kFileBytesMax = uint64_t{4} << 20;

}  // namespace

std::string AliasesPath(const std::string& state_dir) { return absl::StrCat(state_dir, "/circuit_aliases"); }

absl::StatusOr<CircuitAliases> ReadAliases(const std::string& path) {
  CircuitAliases aliases;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return aliases;
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kFileBytesMax));
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const bool good = words.size() == 2 && IsCircuitId(words[0]) && IsCircuitId(words[1]);
    if (!good || !aliases.emplace(words[0], words[1]).second || aliases.size() > kAliasesMax) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ":", number, ": expected ALIAS CIRCUIT, each alias once and at most ",
                       kAliasesMax, " of them, got another line"));
    }
  }
  return aliases;
}

absl::Status WriteAliases(const std::string& path, const CircuitAliases& aliases) {
  std::string text;
  for (const auto& [alias, id] : aliases) absl::StrAppend(&text, alias, " ", id, "\n");
  return WriteFileAtomically(path, text);
}

}  // namespace proofmill::engine
