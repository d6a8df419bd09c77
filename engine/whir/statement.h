// How a proof's transcript begins: the domain separator and, in the strict profile, all parameters and
// claims.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_WHIR_STATEMENT_H_
#define PROOFMILL_ENGINE_WHIR_STATEMENT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "engine/whir/transcript.h"

namespace proofmill::engine {

// What is wrong with the number or the shape of the claims; empty if nothing is. A value that is missing is
// wrong only if values are required.
std::string WhirClaimsError(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                            bool values_required = true);

// The elements of the strict profile's binding, canonical. REQUIRES: WhirClaimsError() is empty.
std::vector<uint32_t> WhirBinding(const WhirParameters& parameters, absl::Span<const WhirClaim> claims);

// A transcript that has observed the domain separator and, in strict, the binding. REQUIRES: as
// WhirBinding().
WhirTranscript BeginWhirTranscript(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                                   WhirTranscriptLog* log = nullptr);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_STATEMENT_H_
