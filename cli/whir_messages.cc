#include "cli/whir_messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/endian.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/verifier.h"

namespace proofmill::cli {
namespace {

using engine::WhirElements;
using kernels::BabyBear;

constexpr size_t kWordBytes = 4;

std::string ToBytes(absl::Span<const BabyBear> words) {
  std::string bytes(words.size() * kWordBytes, '\0');
  for (size_t i = 0; i < words.size(); ++i) {
    engine::StoreU32(words[i].ToCanonical(), reinterpret_cast<uint8_t*>(bytes.data()) + i * kWordBytes);
  }
  return bytes;
}

absl::StatusOr<WhirElements> ToElements(const std::string& bytes, const std::string& what) {
  if (bytes.size() % kWordBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": expected words of ", kWordBytes, " bytes, got ", bytes.size(), " bytes"));
  }
  WhirElements words(bytes.size() / kWordBytes);
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t word = engine::LoadU32(reinterpret_cast<const uint8_t*>(bytes.data()) + i * kWordBytes);
    if (!BabyBear::IsCanonical(word)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": expected words below ", kernels::kBabyBearP, ", got a larger one"));
    }
    words[i] = BabyBear::FromCanonical(word);
  }
  return words;
}

absl::StatusOr<engine::WhirClaim> ToClaim(const v1::WhirClaim& message, const engine::WhirClaim& asked,
                                          size_t degree, const std::string& what) {
  engine::WhirClaim claim;
  PROOFMILL_ASSIGN_OR_RETURN(claim.point, ToElements(message.point(), absl::StrCat(what, ".point")));
  PROOFMILL_ASSIGN_OR_RETURN(claim.value, ToElements(message.value(), absl::StrCat(what, ".value")));
  if (claim.point != asked.point || claim.value.size() != degree ||
      (!asked.value.empty() && claim.value != asked.value)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": expected the claim that was asked for, got another"));
  }
  return claim;
}

}  // namespace

absl::StatusOr<engine::WhirConfig> ToWhirConfig(const v1::WhirParameters& message) {
  engine::WhirParameters p;
  p.extension_degree = message.extension_degree();
  p.constants = kernels::Poseidon2Set{0};  // refused below
  for (const auto set : {kernels::Poseidon2Set::kGrainLfsr, kernels::Poseidon2Set::kSmallRngSeed1}) {
    if (message.constants() == engine::ConstantsName(set)) p.constants = set;
  }
  p.num_variables = message.num_variables();
  p.folding = {message.folding_constant(), message.folding_first(), message.folding_rest()};
  p.log_inv_rate = message.log_inv_rate();
  p.domain_reduction = message.domain_reduction();
  p.security_level = message.security_level();
  p.max_pow_bits = message.max_pow_bits();
  p.assumption = message.assumption() == v1::WhirParameters::ASSUMPTION_UNIQUE_DECODING
                     ? engine::WhirAssumption::kUniqueDecoding
                 : message.assumption() == v1::WhirParameters::ASSUMPTION_JOHNSON_BOUND
                     ? engine::WhirAssumption::kJohnsonBound
                     : engine::WhirAssumption::kCapacityBound;  // refused below
  p.num_claims = message.num_claims();
  return engine::DeriveWhirConfig(p);
}

v1::WhirClaim ToMessage(const engine::WhirClaim& claim) {
  v1::WhirClaim message;
  message.set_point(ToBytes(claim.point));
  message.set_value(ToBytes(claim.value));
  return message;
}

absl::StatusOr<CheckedWhir> CheckWhirResult(const engine::WhirConfig& config,
                                            absl::Span<const engine::WhirClaim> asked,
                                            const v1::WhirProof& message) {
  if (static_cast<size_t>(message.claims_size()) != asked.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("claims: expected ", asked.size(), ", got ", message.claims_size()));
  }
  CheckedWhir out;
  for (size_t i = 0; i < asked.size(); ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(engine::WhirClaim claim,
                               ToClaim(message.claims(static_cast<int>(i)), asked[i], config.degree(),
                                       absl::StrCat("claims[", i, "]")));
    out.claims.push_back(std::move(claim));
  }
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(message.proof().data()),
                                        message.proof().size());
  const absl::StatusOr<engine::WhirProof> proof = engine::DecodeWhirProof(config, bytes);
  if (!proof.ok() || !engine::VerifyWhir(config, out.claims, *proof).valid) {
    return absl::InternalError("expected a valid proof from the service, got one that does not verify");
  }
  if (message.commitment() != ToBytes(proof->commitment)) {
    return absl::InternalError("expected the commitment of the proof from the service, got another");
  }
  out.proof = message.proof();
  return out;
}

}  // namespace proofmill::cli
