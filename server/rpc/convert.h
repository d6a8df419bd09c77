// Between the messages of the API and the values of the engine.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_RPC_CONVERT_H_
#define PROOFMILL_SERVER_RPC_CONVERT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/clock.h"
#include "engine/dispatch/prove_types.h"
#include "engine/groth16/types.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::server {

// ProofSpec after its checks.
struct Spec {
  std::string circuit;
  std::string version;  // empty: any
  engine::Priority priority = engine::Priority::kNormal;
  std::string request_id;  // as the client gave it, perhaps empty
  bool include_snarkjs_json = false;
  // Who asks (caller.h): filled by the call, not from the message.
  std::string tenant = {};
};
//   INVALID_ARGUMENT kRequestInvalid  a field is missing, malformed or unknown; the message names it.
absl::StatusOr<Spec> ParseSpec(const v1::ProofSpec& spec);

// Each of the two by itself, for requests without a ProofSpec.
absl::Status CheckCircuitId(std::string_view id);
absl::Status CheckVersion(std::string_view version);
constexpr size_t kNameCharsMax = 128;
// What clients name things with: at most 128 printable ASCII characters without spaces. `field` is for the
// error.
absl::Status CheckName(std::string_view name, std::string_view field);
// SHA-256: 32 bytes or nothing.
absl::Status CheckSha256(std::string_view sha256);

// Of Groth16: whether a .wtns file of `size_bytes` can hold a witness of `wires` values, told before any of
// it is there.
//   INVALID_ARGUMENT kWitnessLength  too short or too long; the message names both sizes.
absl::Status CheckWitnessSize(uint64_t size_bytes, uint32_t wires);
// The size of a .wtns file in its usual form, and the largest that is taken.
uint64_t WitnessBytes(uint32_t wires);
uint64_t WitnessBytesMax(uint32_t wires);

// The JSON of snarkjs is filled if `include_snarkjs_json`, where there is one.
void FillResult(const engine::ProveResult& result, bool include_snarkjs_json, std::string_view request_id,
                v1::ProofResult& out);
void FillProof(const engine::Groth16Proof& proof, v1::Groth16Proof& out);
void FillSignals(const std::vector<kernels::Fr>& signals, v1::ProofResult& out);
// REQUIRES: not OK.
void FillError(const absl::Status& error, v1::ItemError& out);
void FillVerificationKey(const engine::VerificationKey& key, v1::Groth16VerificationKey& out);

// A Groth16 proof and its public signals. Nothing is said about curves and groups: that is for the verifier.
struct Statement {
  engine::Groth16Proof proof;
  std::vector<kernels::Fr> public_signals;
};
//   INVALID_ARGUMENT kProofMalformed          a field is missing, has another length than 32, or is q or
//   more. INVALID_ARGUMENT kPublicSignalsMalformed  another count than `n_public`, or a signal of r or more.
absl::StatusOr<Statement> ParseStatement(const v1::VerifyRequest& request, size_t n_public);

// The deadline of a call on the clock of the engine; nothing if the client gave none.
std::optional<engine::Clock::time_point> ToEngineDeadline(std::chrono::system_clock::time_point deadline,
                                                          engine::Clock& clock);

v1::Priority ToProto(engine::Priority priority);
google::protobuf::Duration ToProto(std::chrono::nanoseconds duration);
google::protobuf::Timestamp ToProto(absl::Time time);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CONVERT_H_
