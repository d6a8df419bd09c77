// From the files of a circuit to a circuit in memory.
//
// Thread safety: pure functions, but for the files that they read.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_READER_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_READER_H_

#include <string>

#include "absl/status/status.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/circuit_files.h"
#include "engine/groth16/proving_key.h"

namespace proofmill::engine {

// The circuit before anything of it is read: its id and its proof system.
Circuit NewCircuit(const CircuitFiles& files);

// Reads the key, or the parameters, and what lies beside it into `circuit`. Errors of LoadProvingKey() and
// ReadWtns(); for WHIR
//   INVALID_ARGUMENT  kKeyMalformed  not such a file, or parameters that the strict profile does not offer.
absl::Status ReadCircuit(const CircuitFiles& files, const KeyOptions& options, Circuit& circuit);

// `status` without the folder of the circuits in its message: clients are told why a circuit failed, and
// where its files lie is none of their business.
absl::Status WithoutFolder(const absl::Status& status, const std::string& folder);

// Whether a proof with the one is a proof with the other, canary and constraints included. REQUIRES: both
// were read.
bool ProvesTheSame(const Circuit& a, const Circuit& b);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_READER_H_
