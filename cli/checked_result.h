// Proofs of a service, checked here before they are believed.

#ifndef PROOFMILL_CLI_CHECKED_RESULT_H_
#define PROOFMILL_CLI_CHECKED_RESULT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/cpp/client.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

// A verification key, and the version of the circuit that it is of; empty for a file's.
struct KnownKey {
  engine::VerificationKey key;
  std::string version;
};
// The key that the service tells for `circuit`. Errors are those of the service, with their reason in the
// text.
absl::StatusOr<KnownKey> AskForKey(client::Client& client, const std::string& circuit,
                                   absl::Duration timeout);

// `key`; where its deadline has passed that says that there is a proof, and what helps.
absl::StatusOr<KnownKey> WithProofInText(absl::StatusOr<KnownKey> key, absl::Duration deadline);

struct CheckedResult {
  engine::Groth16Proof proof;
  std::vector<kernels::Fr> signals;
};
// The service has verified the proof; a client that trusts it blindly would not need proofs.
//   FAILED_PRECONDITION  the key is of another version of the circuit than the proof.
//   INTERNAL             it does not verify.
absl::StatusOr<CheckedResult> CheckResult(const KnownKey& key, const v1::ProofResult& result);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_CHECKED_RESULT_H_
