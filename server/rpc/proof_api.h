// What the API says of one proof system: how its inputs, proofs, circuits and statements travel. One object
// for each system; everything else in server/rpc is the same for all.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_RPC_PROOF_API_H_
#define PROOFMILL_SERVER_RPC_PROOF_API_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/proof_data.h"
#include "engine/dispatch/proof_system.h"
#include "engine/formats/received_input.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proofmill/v1/circuits.pb.h"
#include "proofmill/v1/prover.pb.h"
#include "server/rpc/secret_message.h"

namespace proofmill::server {

// What a request shows of its polynomial; empty for systems that know no claims.
using Claims = google::protobuf::RepeatedPtrField<v1::WhirClaim>;

// Bytes of the secret input: in its usual form, and the most that are taken; and of what comes beside it.
struct InputSizes {
  uint64_t usual = 0;
  uint64_t most = 0;
  uint64_t beside = 0;
};

class ProofApi {
 public:
  virtual ~ProofApi() = default;

  // --- Requests for proofs. REQUIRES: the circuit is ready and of this system.
  virtual InputSizes Sizes(const engine::Circuit& circuit) const = 0;
  // Whether `size_bytes` bytes can be an input, told before any of them is there.
  //   INVALID_ARGUMENT kWitnessLength  too short or too long; the message names the sizes.
  virtual absl::Status CheckSize(const engine::Circuit& circuit, uint64_t size_bytes) const = 0;
  //   INVALID_ARGUMENT kRequestInvalid  malformed claims, or claims where there are none.
  virtual absl::Status CheckClaims(const engine::Circuit& circuit, const Claims& claims) const = 0;
  // The input in `bytes`, which are copied, or taken by ReceivedInput::TakeValues(). Throws std::bad_alloc.
  //   INVALID_ARGUMENT  as above, kWitnessMalformed, kWitnessNotCanonical.
  virtual absl::StatusOr<engine::ProofInput> ReadInput(const engine::Circuit& circuit,
                                                       engine::ReceivedInput& bytes,
                                                       const Claims& claims) const = 0;

  // --- Proofs. REQUIRES: the output is of this system.
  virtual void FillProof(const engine::ProofOutput& output, bool include_snarkjs_json,
                         v1::ProofResult& out) const = 0;

  // --- Circuits.
  virtual v1::ProofSystem system() const = 0;
  // Sizes, or parameters. REQUIRES: the circuit is ready.
  virtual void FillCircuit(const engine::Circuit& circuit, v1::Circuit& out) const = 0;
  // The verification key, where it is more than that. REQUIRES: as above.
  virtual void FillVerificationKey(const engine::Circuit& circuit, v1::Circuit& out) const = 0;

  // --- Statements to be verified.
  using Check = std::function<absl::StatusOr<bool>()>;
  // What tells whether the proof of `request` is valid, to be called once on any thread. REQUIRES: the
  // circuit is ready.
  //   INVALID_ARGUMENT kRequestInvalid, kProofMalformed, kPublicSignalsMalformed
  virtual absl::StatusOr<Check> ReadStatement(const engine::CircuitPtr& circuit,
                                              const v1::VerifyRequest& request) const = 0;
};

const ProofApi& ApiOf(engine::ProofSystem system);

// Where a request for a proof has its secret input: in itself, or in an upload.
struct InputPlace {
  engine::ProofSystem system = engine::ProofSystem::kGroth16;
  bool in_upload = false;
  std::string_view upload;       // its name
  SecretField* bytes = nullptr;  // if not in an upload
  const Claims* claims = nullptr;
};
// From a ProveRequest to the fields for the secret inputs of all systems, behind the numbers in `before`.
std::vector<FieldPath> InputPaths(const FieldPath& before);
// `bytes` is what ParseApart() left of those. Both must outlive the result.
//   INVALID_ARGUMENT kRequestInvalid  there is none.
absl::StatusOr<InputPlace> FindInput(const v1::ProveRequest& request, SecretField& bytes);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_PROOF_API_H_
