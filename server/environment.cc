#include "server/environment.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "server/config.h"

namespace proofmill::server {

std::vector<std::string> UnknownVariables(const char* const* environment) {
  std::vector<std::string> unknown;
  for (; *environment != nullptr; ++environment) {
    const absl::string_view entry(*environment);
    const absl::string_view name = entry.substr(0, entry.find('='));
    if (!absl::StartsWith(name, "PROOFMILL_") || name == "PROOFMILL_CONFIG") continue;
    const auto settings = Settings();
    if (std::none_of(settings.begin(), settings.end(),
                     [name](const Setting& setting) { return EnvironmentName(setting) == name; })) {
      unknown.emplace_back(name);
    }
  }
  return unknown;
}

}  // namespace proofmill::server
