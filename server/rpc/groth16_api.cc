#include "server/rpc/groth16_api.h"

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/verifier.h"
#include "server/rpc/convert.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

constexpr size_t kTextsMax = 1024;  // of verification keys; more are made again

class Groth16Api final : public ProofApi {
 public:
  InputSizes Sizes(const engine::Circuit& circuit) const override {
    const uint32_t wires = circuit.key->n_vars();
    return {.usual = WitnessBytes(wires), .most = WitnessBytesMax(wires), .beside = 0};
  }

  absl::Status CheckSize(const engine::Circuit& circuit, uint64_t size_bytes) const override {
    return CheckWitnessSize(size_bytes, circuit.key->n_vars());
  }

  absl::Status CheckClaims(const engine::Circuit&, const Claims& claims) const override {
    if (claims.empty()) return absl::OkStatus();
    return InvalidRequest(
        absl::StrCat("claims: expected none, as the circuit is of Groth16, got ", claims.size()));
  }

  // Of a witness that is there the reader says more than its size.
  absl::StatusOr<engine::ProofInput> ReadInput(const engine::Circuit& circuit, engine::ReceivedInput& bytes,
                                               const Claims&) const override {
    // The engine looks whether the values are canonical.
    PROOFMILL_ASSIGN_OR_RETURN(engine::Witness witness, engine::TakeWtns(bytes, circuit.key->n_vars()));
    return engine::ProofInput(std::move(witness));
  }

  void FillProof(const engine::ProofOutput& output, bool include_snarkjs_json,
                 v1::ProofResult& out) const override {
    const auto& groth16 = std::get<engine::Groth16Output>(output);
    server::FillProof(groth16.proof, *out.mutable_groth16());
    FillSignals(groth16.public_signals, out);
    if (!include_snarkjs_json) return;
    out.set_snarkjs_proof_json(engine::ProofToJson(groth16.proof));
    out.set_snarkjs_public_json(engine::PublicToJson(groth16.public_signals));
  }

  v1::ProofSystem system() const override { return v1::PROOF_SYSTEM_GROTH16_BN254; }

  void FillCircuit(const engine::Circuit& circuit, v1::Circuit& out) const override {
    const engine::ProvingKey& key = *circuit.key;
    v1::Groth16Sizes& sizes = *out.mutable_groth16_sizes();
    sizes.set_wires(key.n_vars());
    sizes.set_public_signals(key.n_public());
    sizes.set_domain(key.domain_size());
    sizes.set_coefficients(key.a_matrix().entries() + key.b_matrix().entries());
    sizes.set_key_bytes(circuit.key_bytes);
    out.set_insecure_test_setup(key.audit().insecure_test_setup);
  }

  void FillVerificationKey(const engine::Circuit& circuit, v1::Circuit& out) const override {
    server::FillVerificationKey(circuit.key->vk(), *out.mutable_verification_key());
    out.set_verification_key_json(VerificationKeyJson(circuit));
  }

  absl::StatusOr<Check> ReadStatement(const engine::CircuitPtr& circuit,
                                      const v1::VerifyRequest& request) const override {
    PROOFMILL_ASSIGN_OR_RETURN(Statement statement, ParseStatement(request, circuit->key->n_public()));
    return [circuit, statement = std::move(statement)] {
      return engine::Verify(circuit->key->vk(), statement.public_signals, statement.proof);
    };
  }

 private:
  // The text is the same for ever, and takes a while to make.
  std::string VerificationKeyJson(const engine::Circuit& circuit) const {
    {
      engine::MutexLock lock(mu_);
      const auto found = key_json_.find(circuit.version);
      if (found != key_json_.end()) return found->second;
    }
    // Two callers may both make it; the result is the same.
    std::string json = engine::VerificationKeyToJson(circuit.key->vk());
    engine::MutexLock lock(mu_);
    if (key_json_.size() >= kTextsMax) key_json_.clear();
    return key_json_.emplace(circuit.version, std::move(json)).first->second;
  }

  mutable engine::Mutex mu_;
  mutable std::map<std::string, std::string> key_json_ ABSL_GUARDED_BY(mu_);  // by version
};

}  // namespace

const ProofApi* MakeGroth16Api() { return new Groth16Api; }

}  // namespace proofmill::server
