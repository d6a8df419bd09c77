#include "server/config_file.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "yaml-cpp/yaml.h"

namespace proofmill::server {
namespace {

constexpr uint64_t kConfigBytesMax = uint64_t{1} << 20;

absl::Status At(const std::string& path, const YAML::Mark& mark, const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", mark.line + 1, ": ", message));
}

absl::StatusOr<std::vector<FileEntry>> ReadMapping(const std::string& path, const YAML::Node& root) {
  std::vector<FileEntry> entries;
  if (root.IsNull()) return entries;  // an empty file, or comments only
  if (!root.IsMap()) return At(path, root.Mark(), "expected `name: value` lines");
  std::set<std::string> names;
  for (const auto& pair : root) {
    if (!pair.first.IsScalar()) return At(path, pair.first.Mark(), "expected the name of a setting");
    const std::string& name = pair.first.Scalar();
    if (!pair.second.IsScalar()) {
      return At(path, pair.first.Mark(), absl::StrCat("expected one plain value for ", name));
    }
    if (!names.insert(name).second) return At(path, pair.first.Mark(), absl::StrCat(name, " comes twice"));
    entries.push_back({name, pair.second.Scalar(), pair.first.Mark().line + 1});
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<FileEntry>> ReadConfigFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, engine::ReadTextFile(path, kConfigBytesMax));
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) return std::vector<FileEntry>();
    if (documents.size() > 1) return At(path, documents[1].Mark(), "expected one document, got several");
    return ReadMapping(path, documents[0]);
  } catch (const YAML::Exception& e) {
    return At(path, e.mark, absl::StrCat("not YAML: ", e.msg));
  }
}

}  // namespace proofmill::server
