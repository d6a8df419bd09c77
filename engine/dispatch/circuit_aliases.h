// Names that point to circuits, and the file that keeps them between runs.
//
// The file has one line for each alias, "ALIAS CIRCUIT", in the order of the aliases.
//
// Thread safety: plain functions; callers see to it that one file is written by one at a time.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_ALIASES_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_ALIASES_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace proofmill::engine {

// Alias to the id of its circuit.
using CircuitAliases = std::map<std::string, std::string, std::less<>>;

// More names than anybody needs, and few enough to look at all of them.
inline constexpr size_t kAliasesMax = 10'000;

// The file in `state_dir`.
std::string AliasesPath(const std::string& state_dir);

// None if there is no such file.
//   FAILED_PRECONDITION  it is not such a file; the message names the line.
//   otherwise            it cannot be read.
absl::StatusOr<CircuitAliases> ReadAliases(const std::string& path);
// Errors of WriteFileAtomically(); the file is as it was then.
absl::Status WriteAliases(const std::string& path, const CircuitAliases& aliases);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_ALIASES_H_
