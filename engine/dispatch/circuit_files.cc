#include "engine/dispatch/circuit_files.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/dispatch/circuit.h"

namespace proofmill::engine {
namespace {

namespace fs = std::filesystem;

// What a circuit proves with: ID and the suffix, or in the folder ID.
struct KeyFile {
  ProofSystem system;
  std::string_view suffix;
  const char* name;
};
constexpr KeyFile kKeyFiles[] = {{ProofSystem::kGroth16, ".zkey", "circuit.zkey"},
                                 {ProofSystem::kWhir, ".whir.json", "circuit.whir.json"}};
constexpr std::string_view kCanarySuffix = ".canary.wtns";
constexpr std::string_view kR1csSuffix = ".r1cs";

// `name` without `suffix`, or empty if it has another end or nothing before it.
std::string Stem(std::string_view name, std::string_view suffix) {
  if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) return "";
  return std::string(name.substr(0, name.size() - suffix.size()));
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string PathIfExists(const fs::path& path) { return Exists(path) ? path.string() : ""; }

class Scanner {
 public:
  explicit Scanner(fs::path directory) : directory_(std::move(directory)) {}

  void Add(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.') return;
    std::error_code error;
    if (entry.is_directory(error)) {
      AddFolder(name);
      return;
    }
    for (const KeyFile& key : kKeyFiles) {
      if (const std::string id = Stem(name, key.suffix); !id.empty()) {
        AddKey(id, name, key, entry.path().string());
        return;
      }
    }
    // Those that belong to a key are found from the key; the JSON ones are the key loader's.
    const bool beside_a_key = !Stem(name, kCanarySuffix).empty() || !Stem(name, kR1csSuffix).empty() ||
                              !Stem(name, ".json").empty();
    if (!beside_a_key) Ignore(name, "neither a folder nor a file ID.zkey or ID.whir.json");
  }

  CircuitScan Finish() {
    CircuitScan scan;
    for (auto& [id, files] : circuits_) scan.circuits.push_back(std::move(files));
    for (auto& [name, why] : ignored_) scan.ignored.push_back({name, std::move(why)});
    return scan;
  }

 private:
  void AddFolder(const std::string& name) {
    const fs::path folder = directory_ / name;
    bool found = false;
    for (const KeyFile& key : kKeyFiles) {
      if (!Exists(folder / key.name)) continue;
      found = true;
      AddKey(name, name, key, (folder / key.name).string());
    }
    if (!found) Ignore(name, "a folder without circuit.zkey or circuit.whir.json");
  }

  void AddKey(const std::string& id, const std::string& name, const KeyFile& key, std::string key_path) {
    if (!IsCircuitId(id)) {
      Ignore(name, "not a circuit id: 1 to 128 characters of [A-Za-z0-9._-], the first not a dot");
      return;
    }
    const auto [entry, is_new] = circuits_.try_emplace(id);
    CircuitFiles& files = entry->second;
    if (!is_new) {
      files.problem = absl::FailedPreconditionError(absl::StrCat(
          "two keys: ", RelativeName(files.key_path), " and ", RelativeName(key_path), "; remove one"));
      return;
    }
    files.id = id;
    files.system = key.system;
    files.key_path = std::move(key_path);
    const bool in_folder = name == id;
    const fs::path base = in_folder ? directory_ / id : directory_;
    files.canary_path = PathIfExists(base / (in_folder ? "canary.wtns" : absl::StrCat(id, ".canary.wtns")));
    files.r1cs_path = PathIfExists(base / (in_folder ? "circuit.r1cs" : absl::StrCat(id, ".r1cs")));
  }

  std::string RelativeName(const std::string& path) const {
    return fs::path(path).lexically_relative(directory_).string();
  }

  void Ignore(const std::string& name, std::string why) { ignored_[name] = std::move(why); }

  const fs::path directory_;
  std::map<std::string, CircuitFiles> circuits_;
  std::map<std::string, std::string> ignored_;
};

}  // namespace

absl::StatusOr<CircuitScan> ScanCircuitDirectory(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status)) {
    return absl::NotFoundError(absl::StrCat("circuit directory ", directory, " does not exist"));
  }
  if (!fs::is_directory(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat("circuit directory ", directory, " is not a directory"));
  }
  Scanner scanner(directory);
  fs::directory_iterator it(directory, error);
  while (!error && it != fs::directory_iterator()) {
    scanner.Add(*it);
    it.increment(error);
  }
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("circuit directory ", directory, " cannot be read: ", error.message()));
  }
  return scanner.Finish();
}

}  // namespace proofmill::engine
