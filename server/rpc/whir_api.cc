#include "server/rpc/whir_api.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/endian.h"
#include "engine/formats/file.h"
#include "engine/whir/files.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/statement.h"
#include "engine/whir/verifier.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;
using engine::WhirElements;
using kernels::BabyBear;

constexpr size_t kWordBytes = 4;
constexpr size_t kDigestBytes = 32;

std::string ToBytes(const BabyBear* words, size_t count) {
  std::string bytes(count * kWordBytes, '\0');
  for (size_t i = 0; i < count; ++i) {
    engine::StoreU32(words[i].ToCanonical(), reinterpret_cast<uint8_t*>(bytes.data()) + i * kWordBytes);
  }
  return bytes;
}
std::string ToBytes(const WhirElements& words) { return ToBytes(words.data(), words.size()); }

// `name` is what the error calls the field.
absl::StatusOr<WhirElements> FromBytes(const std::string& bytes, size_t count, const std::string& name) {
  if (bytes.size() != count * kWordBytes) {
    return InvalidRequest(absl::StrCat(name, ": expected ", count * kWordBytes, " bytes (", count,
                                       " words of ", kWordBytes, "), got ", bytes.size(), " bytes"));
  }
  WhirElements words(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t word = engine::LoadU32(reinterpret_cast<const uint8_t*>(bytes.data()) + i * kWordBytes);
    if (!BabyBear::IsCanonical(word)) {
      return InvalidRequest(absl::StrCat(name, ": expected words below ", kernels::kBabyBearP,
                                         ", got a larger one at index ", i));
    }
    words[i] = BabyBear::FromCanonical(word);
  }
  return words;
}

absl::StatusOr<std::vector<engine::WhirClaim>> ReadClaims(const engine::WhirConfig& config,
                                                          const Claims& claims, bool values_required) {
  const engine::WhirParameters& p = config.parameters;
  if (static_cast<size_t>(claims.size()) != p.num_claims) {
    return InvalidRequest(absl::StrCat("claims: expected ", p.num_claims, ", got ", claims.size()));
  }
  std::vector<engine::WhirClaim> out;
  out.reserve(p.num_claims);
  for (int i = 0; i < claims.size(); ++i) {
    const std::string name = absl::StrCat("claims[", i, "]");
    engine::WhirClaim& claim = out.emplace_back();
    PROOFMILL_ASSIGN_OR_RETURN(claim.point,
                               FromBytes(claims[i].point(), size_t{p.num_variables} * p.extension_degree,
                                         absl::StrCat(name, ".point")));
    if (claims[i].value().empty() && !values_required) continue;
    PROOFMILL_ASSIGN_OR_RETURN(
        claim.value, FromBytes(claims[i].value(), p.extension_degree, absl::StrCat(name, ".value")));
  }
  return out;
}

v1::WhirParameters::Assumption ToProto(engine::WhirAssumption assumption) {
  switch (assumption) {
    case engine::WhirAssumption::kUniqueDecoding:
      return v1::WhirParameters::ASSUMPTION_UNIQUE_DECODING;
    case engine::WhirAssumption::kJohnsonBound:
      return v1::WhirParameters::ASSUMPTION_JOHNSON_BOUND;
    case engine::WhirAssumption::kCapacityBound:
      break;  // not offered
  }
  return v1::WhirParameters::ASSUMPTION_UNSPECIFIED;
}

class WhirApi final : public ProofApi {
 public:
  InputSizes Sizes(const engine::Circuit& circuit) const override {
    const engine::WhirParameters& p = circuit.whir->parameters;
    const uint64_t bytes = uint64_t{kWordBytes} << p.num_variables;
    const uint64_t claim_bytes = uint64_t{kWordBytes} * p.extension_degree * (p.num_variables + 1);
    return {.usual = bytes, .most = bytes, .beside = p.num_claims * (claim_bytes + 1)};
  }

  absl::Status CheckSize(const engine::Circuit& circuit, uint64_t size_bytes) const override {
    const uint64_t expected = Sizes(circuit).usual;
    if (size_bytes == expected) return absl::OkStatus();
    return engine::WithReason(
        absl::InvalidArgumentError(absl::StrCat("expected a polynomial of ", expected, " bytes (2^",
                                                circuit.whir->parameters.num_variables, " values), got ",
                                                size_bytes, " bytes")),
        ErrorReason::kWitnessLength);
  }

  absl::Status CheckClaims(const engine::Circuit& circuit, const Claims& claims) const override {
    return ReadClaims(*circuit.whir, claims, /*values_required=*/false).status();
  }

  absl::StatusOr<engine::ProofInput> ReadInput(const engine::Circuit& circuit, engine::ReceivedInput& bytes,
                                               const Claims& claims) const override {
    engine::WhirInput input;
    PROOFMILL_ASSIGN_OR_RETURN(input.claims, ReadClaims(*circuit.whir, claims, /*values_required=*/false));
    const engine::InputSource source("the request", bytes);
    PROOFMILL_ASSIGN_OR_RETURN(input.polynomial,
                               engine::ReadWhirPolynomial(source, circuit.whir->parameters.num_variables));
    return engine::ProofInput(std::move(input));
  }

  void FillProof(const engine::ProofOutput& output, bool, v1::ProofResult& out) const override {
    const auto& whir = std::get<engine::WhirOutput>(output);
    v1::WhirProof& proof = *out.mutable_whir();
    proof.set_commitment(ToBytes(whir.commitment.data(), whir.commitment.size()));
    for (const engine::WhirClaim& claim : whir.claims) {
      v1::WhirClaim& to = *proof.add_claims();
      to.set_point(ToBytes(claim.point));
      to.set_value(ToBytes(claim.value));
    }
    proof.set_proof(whir.proof.data(), whir.proof.size());
  }

  v1::ProofSystem system() const override { return v1::PROOF_SYSTEM_WHIR_BABYBEAR; }

  void FillCircuit(const engine::Circuit& circuit, v1::Circuit& out) const override {
    const engine::WhirParameters& p = circuit.whir->parameters;
    v1::WhirParameters& to = *out.mutable_whir_parameters();
    to.set_num_variables(p.num_variables);
    to.set_extension_degree(p.extension_degree);
    to.set_folding_first(p.folding.first);
    to.set_folding_rest(p.folding.rest);
    to.set_folding_constant(p.folding.constant);
    to.set_log_inv_rate(p.log_inv_rate);
    to.set_domain_reduction(p.domain_reduction);
    to.set_security_level(p.security_level);
    to.set_max_pow_bits(p.max_pow_bits);
    to.set_assumption(ToProto(p.assumption));
    to.set_constants(std::string(engine::ConstantsName(p.constants)));
    to.set_num_claims(p.num_claims);
  }

  // The parameters are all that a verifier needs.
  void FillVerificationKey(const engine::Circuit&, v1::Circuit&) const override {}

  absl::StatusOr<Check> ReadStatement(const engine::CircuitPtr& circuit,
                                      const v1::VerifyRequest& request) const override {
    if (!request.has_whir())
      return InvalidRequest("statement: expected whir, as the circuit is, got another");
    const v1::WhirStatement& in = request.whir();
    const engine::WhirConfig& config = *circuit->whir;
    PROOFMILL_ASSIGN_OR_RETURN(auto claims, ReadClaims(config, in.claims(), /*values_required=*/true));
    if (!in.commitment().empty() && in.commitment().size() != kDigestBytes) {
      return InvalidRequest(
          absl::StrCat("commitment: expected 32 bytes or nothing, got ", in.commitment().size(), " bytes"));
    }
    // No longer one is a proof, and none is kept for the wait.
    std::string proof;
    if (in.proof().size() <= engine::WhirProofBytesMax(config)) proof = in.proof();
    return [circuit, claims = std::move(claims), proof = std::move(proof),
            commitment = in.commitment()]() -> absl::StatusOr<bool> {
      const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(proof.data()), proof.size());
      const absl::StatusOr<engine::WhirProof> decoded = engine::DecodeWhirProof(*circuit->whir, bytes);
      if (!decoded.ok()) return false;
      const bool is_for_it =
          commitment.empty() || commitment == ToBytes(decoded->commitment.data(), decoded->commitment.size());
      return is_for_it && engine::VerifyWhir(*circuit->whir, claims, *decoded).valid;
    };
  }
};

}  // namespace

const ProofApi* MakeWhirApi() { return new WhirApi; }

}  // namespace proofmill::server
