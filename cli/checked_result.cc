#include "cli/checked_result.h"

#include <algorithm>

#include "cli/client_flags.h"
#include "cli/proof_messages.h"
#include "engine/base/status_macros.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/groth16/verifier.h"

namespace proofmill::cli {
namespace {

constexpr absl::Duration kCallTimeMin = absl::Milliseconds(1);  // no service answers in less
constexpr size_t kVersionShown = 12;                            // digits, as lists of circuits show them

}  // namespace

absl::StatusOr<KnownKey> AskForKey(client::Client& client, const std::string& circuit,
                                   absl::Duration timeout) {
  if (timeout < kCallTimeMin) return absl::DeadlineExceededError("no time is left to ask for the key");
  absl::StatusOr<v1::Circuit> answer =
      client.GetCircuit(circuit, std::min(timeout, client::Client::kShortTimeout));
  if (!answer.ok()) return WithReasonInText(answer.status());
  KnownKey known{.key = {}, .version = answer->version()};
  PROOFMILL_ASSIGN_OR_RETURN(known.key, engine::ParseVerificationKeyJson(answer->verification_key_json()));
  PROOFMILL_RETURN_IF_ERROR(engine::CheckVerificationKey(known.key));
  return known;
}

absl::StatusOr<KnownKey> WithProofInText(absl::StatusOr<KnownKey> key, absl::Duration deadline) {
  if (!absl::IsDeadlineExceeded(key.status())) return key;
  return absl::DeadlineExceededError(absl::StrCat("a proof came, but no key to verify it with within ",
                                                  absl::FormatDuration(deadline),
                                                  "; a longer --deadline or --verify_with helps"));
}

absl::StatusOr<CheckedResult> CheckResult(const KnownKey& key, const v1::ProofResult& result) {
  if (!key.version.empty() && key.version != result.circuit_version()) {
    return absl::FailedPreconditionError(
        absl::StrCat("circuit ", result.circuit(), " has got another key since: expected version ",
                     result.circuit_version().substr(0, kVersionShown), ", got ",
                     key.version.substr(0, kVersionShown), "; --verify_with takes the proof's own key"));
  }
  CheckedResult checked;
  PROOFMILL_ASSIGN_OR_RETURN(checked.proof, ToProof(result.groth16()));
  PROOFMILL_ASSIGN_OR_RETURN(checked.signals, ToSignals(result.public_signals()));
  PROOFMILL_ASSIGN_OR_RETURN(const bool valid, engine::Verify(key.key, checked.signals, checked.proof));
  if (!valid) {
    return absl::InternalError("expected a valid proof from the service, got one that does not verify");
  }
  return checked;
}

}  // namespace proofmill::cli
