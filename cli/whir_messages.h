// WHIR's parameters, claims and proofs between the messages of the API and the values of the engine.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_WHIR_MESSAGES_H_
#define PROOFMILL_CLI_WHIR_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "proofmill/v1/common.pb.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

// What a service sent is judged like any input.
//   INVALID_ARGUMENT  parameters that the strict profile does not offer.
absl::StatusOr<engine::WhirConfig> ToWhirConfig(const v1::WhirParameters& message);

v1::WhirClaim ToMessage(const engine::WhirClaim& claim);

struct CheckedWhir {
  std::vector<engine::WhirClaim> claims;  // each with its value
  std::string proof;
};
// The service has verified the proof; a client that trusts it blindly would not need proofs. `asked` are the
// claims that were sent; values that they have must be those of the answer.
//   INVALID_ARGUMENT  an element that is none, or claims that are not those that were asked for.
//   INTERNAL          the proof does not verify, or is for another commitment than the answer says.
absl::StatusOr<CheckedWhir> CheckWhirResult(const engine::WhirConfig& config,
                                            absl::Span<const engine::WhirClaim> asked,
                                            const v1::WhirProof& message);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_WHIR_MESSAGES_H_
