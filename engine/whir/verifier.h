// Checks WHIR proofs. No length, count or kind of a proof is trusted: all are compared with what the
// parameters say.
//
// Thread safety: pure functions of their arguments. Time and memory are bounded by the parameters.

#ifndef PROOFMILL_ENGINE_WHIR_VERIFIER_H_
#define PROOFMILL_ENGINE_WHIR_VERIFIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "engine/whir/transcript.h"

namespace proofmill::engine {

struct WhirVerdict {
  bool valid = false;
  std::string rejected_at;  // which check failed; for logs, an answer is valid or not

  // Of an accepted proof: the challenges of all folds, which is the point that was opened, and one more
  // element of the transcript, which depends on all that came before.
  WhirElements opened_point;
  WhirElements final_challenge;
};

// Checks `proof` against `claims`. `log`, if not null, gets what the transcript did.
WhirVerdict VerifyWhir(const WhirConfig& config, absl::Span<const WhirClaim> claims, const WhirProof& proof,
                       WhirTranscriptLog* log = nullptr);

// Checks the bytes of a strict proof. Bytes that do not decode are an invalid proof.
WhirVerdict VerifyWhirBytes(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                            absl::Span<const uint8_t> proof, WhirTranscriptLog* log = nullptr);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_VERIFIER_H_
