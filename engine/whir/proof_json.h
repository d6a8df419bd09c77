// Proofs as JSON: in the form that whir-p3 writes (field elements as their Montgomery forms), which is how
// proofs are exchanged with it, and in the form of its known answers (canonical numbers). Both are for the
// pin profile.
//
// Thread safety: pure functions. Nothing here throws on bad input.

#ifndef PROOFMILL_ENGINE_WHIR_PROOF_JSON_H_
#define PROOFMILL_ENGINE_WHIR_PROOF_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/whir/proof.h"

namespace proofmill::engine {

enum class WhirJsonForm { kUpstream, kVectors };

// Without white space.
std::string WhirProofToJson(const WhirProof& proof, size_t degree, WhirJsonForm form);

// The shape is not compared with any parameters; the verifier does that.
//   INVALID_ARGUMENT    not the JSON of a proof, or a number that is no field element.
//   RESOURCE_EXHAUSTED  longer than 64 MiB.
absl::StatusOr<WhirProof> WhirProofFromJson(std::string_view text, size_t degree, WhirJsonForm form);

// The length of the proof in bincode 1, as whir-p3 counts proof sizes.
size_t WhirBincodeBytes(const WhirProof& proof);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_PROOF_JSON_H_
