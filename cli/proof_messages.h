// Proofs and public signals between the messages of the API and the values of the engine.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_PROOF_MESSAGES_H_
#define PROOFMILL_CLI_PROOF_MESSAGES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"
#include "proofmill/v1/common.pb.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

// What a service sent is judged like any input.
//   INVALID_ARGUMENT  a number that is not 32 bytes or not below its modulus, or a point off its curve.
absl::StatusOr<engine::Groth16Proof> ToProof(const v1::Groth16Proof& message);
absl::StatusOr<std::vector<kernels::Fr>> ToSignals(
    const google::protobuf::RepeatedPtrField<std::string>& signals);

v1::Groth16Proof ToMessage(const engine::Groth16Proof& proof);
// 32 bytes, big-endian.
std::string ToBytes(const kernels::Fr& signal);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_PROOF_MESSAGES_H_
