// Which files of a circuit directory belong to which circuit (the layout is in circuit_registry.h).

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_FILES_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/dispatch/proof_system.h"

namespace proofmill::engine {

struct CircuitFiles {
  std::string id;
  // Not OK: the files contradict each other (a key in both places), and the circuit cannot be loaded.
  absl::Status problem;
  ProofSystem system = ProofSystem::kGroth16;
  std::string key_path;     // of a .zkey, or of WHIR parameters
  std::string canary_path;  // empty: none
  std::string r1cs_path;    // empty: none
};

struct IgnoredFile {
  std::string name;
  std::string why;
};

struct CircuitScan {
  std::vector<CircuitFiles> circuits;  // by id
  std::vector<IgnoredFile> ignored;    // by name
};

// Reads the names in `directory`, and in its folders one level down; opens no file.
//   NOT_FOUND            there is no such directory.
//   FAILED_PRECONDITION  it is no directory, or may not be read.
absl::StatusOr<CircuitScan> ScanCircuitDirectory(const std::string& directory);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_FILES_H_
