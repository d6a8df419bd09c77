// The Groth16 verifier.
//
// Infinity in a proof is allowed, as in snarkjs and in the EVM's precompiles: the equation and its soundness
// proof are over whole groups, and an honest prover with fixed blinding can meet it (no private wire, r = s =
// 0). Points outside the subgroup of G2 are not, although snarkjs lets them through.
//
// Proofs are malleable: from (A, B, C) anybody can make others of the same statement, for instance (-A, -B,
// C). So the bytes of a proof must not serve as its identity; public signals may.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_GROTH16_VERIFIER_H_
#define PROOFMILL_ENGINE_GROTH16_VERIFIER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// Whether e(A, B) = e(alpha1, beta2) * e(IC[0] + sum public[i] * IC[i + 1], gamma2) * e(C, delta2), with A, B
// and C on their curves and B in the subgroup. REQUIRES: `key` passed CheckVerificationKey() or the key
// audit; coordinates are below q.
//   INVALID_ARGUMENT  the number of public signals is not n_public (reason kPublicSignalsMalformed).
absl::StatusOr<bool> Verify(const VerificationKey& key, absl::Span<const kernels::Fr> public_signals,
                            const Groth16Proof& proof);

// For keys from outside: points canonical, on their curves and in the subgroup; alpha1, beta2, gamma2 and
// delta2 not infinity; at least one IC point.
//   INVALID_ARGUMENT  something of this does not hold; the message names the point.
absl::Status CheckVerificationKey(const VerificationKey& key);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_VERIFIER_H_
