// Reading of the configuration file: YAML, one mapping from the names of settings to plain values.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_CONFIG_FILE_H_
#define PROOFMILL_SERVER_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace proofmill::server {

struct FileEntry {
  std::string name;
  std::string text;
  int line;  // counted from 1
};

// The entries in the order of the file, without judging names or values.
//   NOT_FOUND, PERMISSION_DENIED  the file cannot be read.
//   INVALID_ARGUMENT              not YAML, not one flat mapping, a name twice; with the line.
absl::StatusOr<std::vector<FileEntry>> ReadConfigFile(const std::string& path);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_CONFIG_FILE_H_
