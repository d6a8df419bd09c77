// Proofs, public signals and verification keys as the JSON of snarkjs; rapidsnark's variants are read too
// (compact, sorted keys, no "curve", null for no public signals).
//
// Reading is strict where laxness has cost others money or let one proof have two spellings:
//   * numbers are decimal strings without sign, leading zeros or "0x", below q for coordinates and below r
//     for signals;
//   * points are on their curve and affine: the last coordinate is "1" (["1","0"] in G2), or the point is
//     exactly the form for infinity, ["0","1","0"] or [["0","0"],["1","0"],["0","0"]];
//   * arrays have exactly the right length; no key comes twice; "protocol" is "groth16", and "curve", if
//     there, is "bn128" or "bn254". Keys that we do not know are ignored.
// Membership of G2 points in the subgroup is not checked here: the verifier does.
//
// Writing gives the text that the snarkjs command line writes, byte for byte: one space per level, no newline
// at the end. Only an empty array is "[]" where snarkjs breaks the line inside.
//
// Thread safety: pure functions. No function throws on bad input.

#ifndef PROOFMILL_ENGINE_FORMATS_SNARKJS_JSON_H_
#define PROOFMILL_ENGINE_FORMATS_SNARKJS_JSON_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

inline constexpr size_t kProofJsonBytesMax = size_t{64} << 10;
inline constexpr size_t kPublicJsonBytesMax = size_t{16} << 20;
inline constexpr size_t kVerificationKeyJsonBytesMax = size_t{16} << 20;

//   INVALID_ARGUMENT    not such JSON; the message names the place, what was expected and what was there.
//   RESOURCE_EXHAUSTED  longer than kProofJsonBytesMax.
absl::StatusOr<Groth16Proof> ParseProofJson(std::string_view text);
std::string ProofToJson(const Groth16Proof& proof);

// With `expected_count` the array must have that many signals, no fewer and no more.
// Errors as above, with kPublicJsonBytesMax.
absl::StatusOr<std::vector<kernels::Fr>> ParsePublicJson(std::string_view text,
                                                         std::optional<size_t> expected_count = std::nullopt);
std::string PublicToJson(absl::Span<const kernels::Fr> signals);

struct VerificationKeyJsonOptions {
  // Whether "vk_alphabeta_12", if there, must equal the pairing of alpha and beta (a millisecond or two);
  // otherwise only its form is checked.
  bool check_alphabeta = true;
};

// Also refuses a key one of whose points alpha, beta, gamma, delta is infinity: it would accept forgeries.
// Errors as above, with kVerificationKeyJsonBytesMax.
absl::StatusOr<VerificationKey> ParseVerificationKeyJson(std::string_view text,
                                                         const VerificationKeyJsonOptions& options = {});
// Computes vk_alphabeta_12 by a pairing. REQUIRES: `key` passed the key audit or ParseVerificationKeyJson.
std::string VerificationKeyToJson(const VerificationKey& key);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_SNARKJS_JSON_H_
