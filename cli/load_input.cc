#include "cli/load_input.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cli/client_flags.h"
#include "cli/proof_messages.h"
#include "cli/whir_messages.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/proof_checks.h"
#include "engine/groth16/verifier.h"
#include "engine/whir/files.h"
#include "engine/whir/prover.h"
#include "kernels/field/small_rng.h"

namespace proofmill::cli {
namespace {

absl::string_view ViewOf(const engine::SecretBuffer<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Checks proofs of one circuit, together where several come at a time.
class CircuitVerifier {
 public:
  explicit CircuitVerifier(engine::VerificationKey key) : key_(std::move(key)) {}

  absl::StatusOr<bool> Verify(const std::vector<kernels::Fr>& signals, const engine::Groth16Proof& proof) {
    return checks_.Verify(signals, proof);
  }

 private:
  const engine::VerificationKey key_;
  const engine::PreparedPairings prepared_{key_};
  engine::ProofChecks checks_{key_, prepared_};
};

// A proof is good if its public signals are those of the witness and the circuit's key accepts it.
class ExpectedGroth16 final : public ExpectedProof {
 public:
  ExpectedGroth16(std::shared_ptr<CircuitVerifier> verifier, std::vector<std::string> signals)
      : verifier_(std::move(verifier)), signals_(std::move(signals)) {}

  std::string FaultOf(const v1::ProofResult& result) const override {
    const std::vector<std::string> signals(result.public_signals().begin(), result.public_signals().end());
    if (signals != signals_) return "its public signals are not those of the witness";
    const auto proof = ToProof(result.groth16());
    if (!proof.ok()) return std::string(proof.status().message());
    const auto values = ToSignals(result.public_signals());
    if (!values.ok()) return std::string(values.status().message());
    const auto valid = verifier_->Verify(*values, *proof);
    if (!valid.ok()) return std::string(valid.status().message());
    return *valid ? "" : "it does not verify";
  }

 private:
  const std::shared_ptr<CircuitVerifier> verifier_;
  const std::vector<std::string> signals_;
};

class Groth16Reader final : public LoadInputReader {
 public:
  Groth16Reader(engine::VerificationKey key, const v1::Groth16Sizes& sizes)
      : verifier_(std::make_shared<CircuitVerifier>(std::move(key))), sizes_(sizes) {}

  absl::StatusOr<LoadInput> Read(const std::string& path) override {
    LoadInput out;
    PROOFMILL_ASSIGN_OR_RETURN(out.bytes, ReadWitnessFile(path));
    const engine::MemorySource source(path, {out.bytes.data(), out.bytes.size()});
    PROOFMILL_ASSIGN_OR_RETURN(const engine::Witness witness, engine::ReadWtns(source, sizes_.wires()));
    std::vector<std::string> signals;
    for (uint64_t i = 1; i <= sizes_.public_signals(); ++i) {
      signals.push_back(ToBytes(kernels::Fr::FromPlain(witness.values[i])));
    }
    out.input = client::Input(ViewOf(out.bytes));
    out.expected = std::make_unique<ExpectedGroth16>(verifier_, std::move(signals));
    return out;
  }

 private:
  const std::shared_ptr<CircuitVerifier> verifier_;
  const v1::Groth16Sizes sizes_;
};

// A proof is good if its values are those that the polynomial has here, and it verifies.
class ExpectedWhir final : public ExpectedProof {
 public:
  ExpectedWhir(std::shared_ptr<const engine::WhirConfig> config, std::vector<engine::WhirClaim> claims)
      : config_(std::move(config)), claims_(std::move(claims)) {}

  std::string FaultOf(const v1::ProofResult& result) const override {
    return std::string(CheckWhirResult(*config_, claims_, result.whir()).status().message());
  }

 private:
  const std::shared_ptr<const engine::WhirConfig> config_;
  const std::vector<engine::WhirClaim> claims_;
};

class WhirReader final : public LoadInputReader {
 public:
  WhirReader(engine::WhirConfig config, uint64_t seed)
      : config_(std::make_shared<const engine::WhirConfig>(std::move(config))), random_(seed) {}

  absl::StatusOr<LoadInput> Read(const std::string& path) override {
    const engine::WhirParameters& p = config_->parameters;
    LoadInput out;
    PROOFMILL_ASSIGN_OR_RETURN(out.bytes, ReadWitnessFile(path));
    const engine::MemorySource source(path, {out.bytes.data(), out.bytes.size()});
    PROOFMILL_ASSIGN_OR_RETURN(const auto polynomial, engine::ReadWhirPolynomial(source, p.num_variables));
    std::vector<engine::WhirClaim> claims;
    std::vector<v1::WhirClaim> asked;
    for (uint32_t i = 0; i < p.num_claims; ++i) {
      engine::WhirClaim& claim = claims.emplace_back();
      for (uint32_t k = 0; k < p.num_variables * p.extension_degree; ++k) {
        claim.point.push_back(random_.NextBabyBear());
      }
      asked.push_back(ToMessage(claim));
      claim.value =
          engine::EvaluateWhir({polynomial.data(), polynomial.size()}, claim.point, p.extension_degree);
    }
    out.input = client::Input::Whir(ViewOf(out.bytes), std::move(asked));
    out.expected = std::make_unique<ExpectedWhir>(config_, std::move(claims));
    return out;
  }

 private:
  const std::shared_ptr<const engine::WhirConfig> config_;
  kernels::SmallRng random_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoadInputReader>> MakeLoadInputReader(const v1::Circuit& circuit,
                                                                     uint64_t seed) {
  if (circuit.has_whir_parameters()) {
    PROOFMILL_ASSIGN_OR_RETURN(engine::WhirConfig config, ToWhirConfig(circuit.whir_parameters()));
    return std::make_unique<WhirReader>(std::move(config), seed);
  }
  PROOFMILL_ASSIGN_OR_RETURN(engine::VerificationKey key,
                             engine::ParseVerificationKeyJson(circuit.verification_key_json()));
  PROOFMILL_RETURN_IF_ERROR(engine::CheckVerificationKey(key));
  return std::make_unique<Groth16Reader>(std::move(key), circuit.groth16_sizes());
}

}  // namespace proofmill::cli
