#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/formats/inspect.h"
#include "nlohmann/json.hpp"

namespace proofmill::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;

Json ToJsonObject(const std::vector<FileFact>& facts) {
  Json object = Json::object();
  for (const FileFact& fact : facts) {
    std::visit([&](const auto& value) { object[fact.name] = value; }, fact.value);
  }
  return object;
}

// A name in a file may be any bytes; a terminal must not take them for commands.
std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; },
      '?');
  return text;
}

std::string ValueText(const FactValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<uint64_t>(&value)) return absl::StrCat(*number);
  if (const auto* fraction = std::get_if<double>(&value)) return absl::StrFormat("%.2f", *fraction);
  return Printable(std::get<std::string>(value));
}

std::string FactText(const FileFact& fact) { return absl::StrCat(fact.name, ": ", ValueText(fact.value)); }

}  // namespace

std::string FileReport::ToJson() const {
  Json object = {{"kind", kind}};
  object.update(ToJsonObject(facts));
  for (const FileTable& table : tables) {
    Json rows = Json::array();
    for (const std::vector<FileFact>& row : table.rows) rows.push_back(ToJsonObject(row));
    object[table.name] = std::move(rows);
  }
  object["warnings"] = warnings;
  return object.dump(kIndent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string FileReport::ToText() const {
  std::string out = absl::StrCat("kind: ", kind, "\n");
  for (const FileFact& fact : facts) absl::StrAppend(&out, FactText(fact), "\n");
  for (const FileTable& table : tables) {
    absl::StrAppend(&out, table.name, ": ", table.rows.size(), "\n");
    for (const std::vector<FileFact>& row : table.rows) {
      const auto append = [](std::string* text, const FileFact& fact) { text->append(FactText(fact)); };
      absl::StrAppend(&out, "  ", absl::StrJoin(row, "  ", append), "\n");
    }
  }
  for (const std::string& warning : warnings) absl::StrAppend(&out, "warning: ", warning, "\n");
  return out;
}

}  // namespace proofmill::engine
