// The files of WHIR: parameters and statements as JSON, polynomials as words.
//
// A statement is {"parameters": {..}, "claims": [{"point": [..], "value": [..]}, ..]}, elements being lists
// of canonical numbers. Parameters that are left out have the defaults of WhirParameters; "num_claims" is the
// number of claims, in a file of parameters alone 1. The profile is always strict.
//
// Thread safety: pure functions. Nothing here throws on bad input.

#ifndef PROOFMILL_ENGINE_WHIR_FILES_H_
#define PROOFMILL_ENGINE_WHIR_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/host_buffer.h"
#include "engine/formats/file.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"

namespace proofmill::engine {

struct WhirStatement {
  WhirParameters parameters;
  std::vector<WhirClaim> claims;  // a claim whose value is left out has an empty one
};

// The parameters alone, {"num_variables": N, ..}. They may have a "profile", which must be "strict".
//   INVALID_ARGUMENT    not such a JSON, an unknown parameter, or one that DeriveWhirConfig() would not know.
//   RESOURCE_EXHAUSTED  longer than 64 KiB.
absl::StatusOr<WhirParameters> ParseWhirParameters(std::string_view text);
// All of them written out, one text for each set.
std::string WhirParametersToJson(const WhirParameters& parameters);

//   INVALID_ARGUMENT    not such a JSON, an unknown parameter, or a number that is no field element.
//   RESOURCE_EXHAUSTED  longer than 256 MiB.
absl::StatusOr<WhirStatement> ParseWhirStatement(std::string_view text);
// All parameters written out.
std::string WhirStatementToJson(const WhirStatement& statement);

// The values of a polynomial: little-endian words of 4 bytes, canonical, 2^num_variables of them. The buffer
// is wiped when it goes.
//   INVALID_ARGUMENT  kWitnessLength        another length; both are named.
//                     kWitnessNotCanonical  a word that is no field element; its index is named.
//   ABORTED           the file changed while it was read.
//   otherwise         as ByteSource.
absl::StatusOr<SecretBuffer<kernels::BabyBear>> ReadWhirPolynomial(const ByteSource& source,
                                                                   uint32_t num_variables);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_FILES_H_
