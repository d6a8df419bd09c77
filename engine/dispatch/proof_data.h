// What goes into a proof and what comes out of it, by proof system.
//
// An input is a secret of who sent it: move only, wiped when it goes. What is public of a WHIR input (points
// and claimed values) travels with it.
//
// Thread safety: plain values and pure functions.

#ifndef PROOFMILL_ENGINE_DISPATCH_PROOF_DATA_H_
#define PROOFMILL_ENGINE_DISPATCH_PROOF_DATA_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/proof_system.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/types.h"
#include "engine/whir/proof.h"
#include "kernels/cpu/poseidon2_hash.h"
#include "kernels/field/babybear.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// The polynomial's values, and where to open it. A claim without a value gets that of the polynomial.
struct WhirInput {
  SecretBuffer<kernels::BabyBear> polynomial;
  std::vector<WhirClaim> claims;
};
using ProofInput = std::variant<Witness, WhirInput>;

struct Groth16Output {
  Groth16Proof proof;
  std::vector<kernels::Fr> public_signals;
};
struct WhirOutput {
  kernels::Digest commitment{};
  std::vector<WhirClaim> claims;  // each with its value
  std::vector<uint8_t> proof;     // encoded (engine/whir/proof_bytes.h)
};
using ProofOutput = std::variant<Groth16Output, WhirOutput>;

ProofSystem SystemOf(const ProofInput& input);
ProofSystem SystemOf(const ProofOutput& output);

// Memory that they take.
uint64_t InputBytes(const ProofInput& input);
uint64_t OutputBytes(const ProofOutput& output);

// The bytes that make up the content of an input, piece by piece: no two inputs of one circuit have the same.
std::vector<absl::Span<const uint8_t>> InputContent(const ProofInput& input);

// Whether `circuit` can be proved with `input`, as far as lengths and ranges tell. REQUIRES: the circuit is
// ready.
//   INVALID_ARGUMENT kWitnessLength, kWitnessNotCanonical, kWitnessMalformed  the secret part.
//                    kRequestInvalid  the input of another proof system, or malformed claims.
absl::Status CheckInput(const Circuit& circuit, const ProofInput& input);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_PROOF_DATA_H_
