// The bytes of a proof in the strict profile: little-endian words of 32 bits, canonical, with an 8-byte
// header ("PMW1", version 1). The parameters imply every length but the number of openings of each
// commitment.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_WHIR_PROOF_BYTES_H_
#define PROOFMILL_ENGINE_WHIR_PROOF_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"

namespace proofmill::engine {

// The length of the longest proof, that of a proof in which no query repeats.
size_t WhirProofBytesMax(const WhirConfig& config);

// REQUIRES: `proof` has the shape that `config` implies.
std::vector<uint8_t> EncodeWhirProof(const WhirConfig& config, const WhirProof& proof);

// What is accepted gives the same bytes again.
//   INVALID_ARGUMENT  a wrong header, a length that is too short, too long or no multiple of 4, a word that
//   is not
//                     canonical, or a number of openings out of range.
absl::StatusOr<WhirProof> DecodeWhirProof(const WhirConfig& config, absl::Span<const uint8_t> bytes);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_PROOF_BYTES_H_
