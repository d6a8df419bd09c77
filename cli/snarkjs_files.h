// Proofs, public signals and verification keys from JSON files, with the file's name in each error.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_SNARKJS_FILES_H_
#define PROOFMILL_CLI_SNARKJS_FILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::cli {

// Each fails as engine::ReadTextFile and the parser of engine/formats/snarkjs_json.h do.

// The key has passed engine::CheckVerificationKey().
absl::StatusOr<engine::VerificationKey> ReadVerificationKeyFile(const std::string& path);
absl::StatusOr<engine::Groth16Proof> ReadProofFile(const std::string& path);
absl::StatusOr<std::vector<kernels::Fr>> ReadPublicFile(const std::string& path,
                                                        std::optional<size_t> expected_count = std::nullopt);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_SNARKJS_FILES_H_
