// A proof and its public signals as arguments of the Solidity verifier that snarkjs exports: the line that
// `snarkjs generatecall` prints.

#ifndef PROOFMILL_ENGINE_FORMATS_CALLDATA_H_
#define PROOFMILL_ENGINE_FORMATS_CALLDATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// One line without a newline. G2 coordinates have their imaginary part first, as EIP-197 wants; every number
// is "0x" and 64 lower-case digits.
//   INVALID_ARGUMENT  a point of the proof is infinity: snarkjs prints (0,1) there, which is not on the curve
//                     and makes the contract revert.
absl::StatusOr<std::string> ToCalldata(const Groth16Proof& proof,
                                       absl::Span<const kernels::Fr> public_signals);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_CALLDATA_H_
