#include "server/line_file.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/formats/file.h"

namespace proofmill::server {
namespace {

constexpr uint64_t kBytesMax = uint64_t{4} << 20;
constexpr size_t kMistakesMax = 10;
constexpr size_t kTenantNameMax = 256;

}  // namespace

absl::Status ForEachLine(
    std::string_view name, std::string_view text,
    const std::function<absl::Status(const std::vector<absl::string_view>& words)>& take) {
  const absl::string_view file(name.data(), name.size());
  if (text.empty() || text.back() != '\n') {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": expected lines that end with a line end, got ",
        text.empty() ? "an empty file" : "a last line without one: the file may not be complete"));
  }
  std::vector<std::string> mistakes;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    const absl::Status status = take(words);
    if (status.ok()) continue;
    mistakes.push_back(absl::StrCat(file, ":", number, ": ", status.message()));
    if (mistakes.size() == kMistakesMax) break;
  }
  if (mistakes.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(mistakes, "; "));
}

absl::StatusOr<std::string> ReadLineFile(const std::string& path) {
  return engine::ReadTextFile(path, kBytesMax);
}

absl::Status CheckTenantName(absl::string_view text) {
  const bool printable = std::all_of(text.begin(), text.end(),
                                     [](unsigned char c) { return absl::ascii_isgraph(c) && c != '#'; });
  if (!text.empty() && text.size() <= kTenantNameMax && printable) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected the name of a tenant, 1 to ", kTenantNameMax,
                                                 " printable ASCII characters without blanks and #"));
}

}  // namespace proofmill::server
