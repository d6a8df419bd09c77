// Facts about any file that proofmill reads: .zkey, .wtns, .r1cs, and the JSON of proofs, public signals and
// verification keys. For people and scripts; nothing else depends on it.
//
// Of a witness only counts are told, never values.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_FORMATS_INSPECT_H_
#define PROOFMILL_ENGINE_FORMATS_INSPECT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace proofmill::engine {

using FactValue = std::variant<bool, uint64_t, double, std::string>;

// `name` is snake_case with its unit last ("file_bytes", "zero_percent").
struct FileFact {
  std::string name;
  FactValue value;
};

// A table of equal rows: the sections of a container, the contributions of a key.
struct FileTable {
  std::string name;
  std::vector<std::vector<FileFact>> rows;
};

struct FileReport {
  std::string kind;  // "zkey", "wtns", "r1cs", "proof", "public", "verification_key"
  std::vector<FileFact> facts;
  std::vector<FileTable> tables;
  std::vector<std::string> warnings;

  // One object: kind, the facts, each table as an array of objects, warnings. Two spaces a level.
  std::string ToJson() const;
  // A line for each fact, row and warning; control characters in names from the file are replaced.
  std::string ToText() const;
};

// Reads the file with the same parser that the prover uses, so a file that it refuses is refused here with
// the same error.
//   INVALID_ARGUMENT  the file is of no kind that we know, or the parser refused it.
//   otherwise         as the parser of that kind.
absl::StatusOr<FileReport> InspectFile(const std::string& path);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_INSPECT_H_
