// Known answers of the pin profile: parameter sets, proofs, and runs without their openings.

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/whir/json_values.h"
#include "engine/whir/proof_json.h"
#include "engine/whir/prover.h"
#include "engine/whir/statement.h"
#include "engine/whir/vector_parts.h"
#include "engine/whir/verifier.h"
#include "kernels/field/babybear.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using nlohmann::json;

constexpr size_t kDegree = 4;
constexpr uint64_t kSeed = 0;

WhirParameters PinParameters(const json& config) {
  WhirParameters p;
  p.profile = WhirProfile::kPin;
  p.extension_degree = kDegree;
  p.constants = kernels::Poseidon2Set::kSmallRngSeed1;
  p.num_variables = JsonUint32(config.at("num_variables"));
  p.folding = JsonFolding(config.at("folding_factor"));
  p.log_inv_rate = JsonUint32(config.at("starting_log_inv_rate"));
  p.domain_reduction = JsonUint32(config.at("rs_domain_initial_reduction_factor"));
  p.security_level = JsonUint32(config.at("security_level"));
  p.max_pow_bits = JsonUint32(config.at("max_pow_bits"));
  p.assumption = JsonAssumption(config.at("soundness"));
  return p;
}

json RoundJson(const WhirRound& round) {
  const BabyBear generator = kernels::BabyBearRootOfUnity(round.log_domain - round.folding);
  return {{"folded_domain_gen", generator.ToCanonical()},
          {"folding_factor", round.folding},
          {"folding_pow_bits", round.fold_pow_bits},
          {"log_domain_size", round.log_domain},
          {"num_queries", round.queries},
          {"num_variables", round.num_variables},
          {"ood_samples", round.ood_samples},
          {"pow_bits", round.pow_bits}};
}

// What a file says of derived parameters, apart from the inputs and from what is not used.
json DerivedJson(const WhirConfig& config) {
  json rounds = json::array();
  for (const WhirRound& round : config.rounds) rounds.push_back(RoundJson(round));
  const std::vector<WhirGrind> grinds = config.Grinds();
  const bool within_budget = std::all_of(grinds.begin(), grinds.end(), [&](const WhirGrind& grind) {
    return grind.second <= config.parameters.max_pow_bits;
  });
  return {{"check_pow_bits", within_budget},
          {"commitment_ood_samples", config.ood_samples},
          {"starting_folding_pow_bits", config.fold_pow_bits},
          {"rounds", rounds},
          {"final_queries", config.final_queries},
          {"final_pow_bits", config.final_pow_bits},
          {"final_folding_pow_bits", config.final_fold_pow_bits},
          {"final_sumcheck_rounds", config.final_variables}};
}

WhirElements PlusOne(WhirElements elements) {
  elements.at(0) += BabyBear::One();
  return elements;
}

void CheckAlterations(const json& negatives, const WhirConfig& config, const std::vector<WhirClaim>& claims,
                      const WhirProof& proof, WhirComparison& comparison) {
  for (const json& negative : negatives) {
    const auto& change = negative.at("change").get_ref<const std::string&>();
    std::vector<WhirClaim> other_claims = claims;
    WhirProof other_proof = proof;
    if (change == "claim 0 value + 1" && !claims.empty()) {
      other_claims[0].value = PlusOne(claims[0].value);
    } else if (change == "final_poly[0] + 1" && !proof.final_polynomial.empty()) {
      other_proof.final_polynomial = PlusOne(proof.final_polynomial);
    } else {
      ThrowJsonError(absl::StrCat("unknown change: ", change));
    }
    comparison.Expect(!VerifyWhir(config, other_claims, other_proof).valid,
                      absl::StrCat("accepted with ", change));
  }
  comparison.Say(absl::StrCat(negatives.size(), " alterations rejected"));
}

void CheckUpstreamJson(const json& file, const WhirProof& proof, WhirComparison& comparison) {
  const std::string text = WhirProofToJson(proof, kDegree, WhirJsonForm::kUpstream);
  comparison.Expect(text.size() == JsonUint(file.at("serde_json_bytes")), "length of the JSON of whir-p3");
  comparison.Expect(WhirBincodeBytes(proof) == JsonUint(file.at("bincode_bytes")), "length in bincode");
  const auto back = WhirProofFromJson(text, kDegree, WhirJsonForm::kUpstream);
  comparison.Expect(back.ok() && *back == proof, "JSON of whir-p3, written and read");
  if (!file.contains("upstream_serde_json_montgomery")) return;
  const json& upstream = file.at("upstream_serde_json_montgomery");
  const auto parsed = WhirProofFromJson(upstream.dump(), kDegree, WhirJsonForm::kUpstream);
  comparison.Expect(parsed.ok() && *parsed == proof, "JSON of whir-p3, read");
  comparison.Expect(json::parse(text) == upstream, "JSON of whir-p3, written");
}

// The proof of the input that the file describes.
std::optional<WhirProof> ProveAgain(const json& file, const WhirConfig& config,
                                    const std::vector<WhirClaim>& claims, const WhirVectorOptions& options,
                                    WhirComparison& comparison) {
  const WhirVectorInput input =
      DrawVectorInput(kSeed, config.parameters.num_variables, claims.size(), kDegree);
  if (file.contains("poly"))
    comparison.Expect(JsonElements(file.at("poly")) == input.polynomial, "polynomial");
  for (size_t i = 0; i < claims.size(); ++i)
    comparison.Expect(claims[i].point == input.points[i], "claim points");
  const auto prover = MakeVectorProver(config, options);
  if (!comparison.Expect(prover.ok(), prover.status().message())) return std::nullopt;
  auto proof = (*prover)->Prove(input.polynomial, claims, {});
  if (!comparison.Expect(proof.ok(), proof.status().message())) return std::nullopt;
  return *std::move(proof);
}

void CheckEnd(const json& file, const WhirVerdict& verdict, WhirComparison& comparison) {
  comparison.Expect(verdict.valid, absl::StrCat("rejected: ", verdict.rejected_at));
  comparison.Expect(JsonElements(file.at("final_challenge_after_proof")) == verdict.final_challenge,
                    "challenge after the proof");
}

}  // namespace

absl::StatusOr<WhirConfig> CheckedPinConfig(const json& config, WhirComparison& comparison) {
  absl::StatusOr<WhirConfig> derived = DeriveWhirConfig(PinParameters(config));
  if (!comparison.Expect(derived.ok(), "parameters refused")) return derived;
  const json values = DerivedJson(*derived);
  for (const auto& [name, value] : values.items()) {
    comparison.Expect(config.at(name) == value, absl::StrCat("derived ", name));
  }
  return derived;
}

void CheckPinParameters(const json& file, WhirComparison& comparison) {
  size_t refused = 0;
  for (const json& entry : file) {
    if (entry.contains("error")) {
      ++refused;
      WhirParameters p;
      p.profile = WhirProfile::kPin;
      p.extension_degree = kDegree;
      p.num_variables = JsonUint32(entry.at("num_variables"));
      p.folding = WhirFolding::Constant(JsonUint32(entry.at("fold")));
      p.log_inv_rate = JsonUint32(entry.at("rate"));
      p.domain_reduction = std::min(p.folding.first, 3u);
      p.assumption = WhirAssumption::kCapacityBound;
      comparison.Expect(!DeriveWhirConfig(p).ok(), absl::StrCat("accepted: ", entry.dump()));
    } else {
      CheckedPinConfig(entry, comparison).IgnoreError();
    }
  }
  comparison.Say(absl::StrCat(file.size(), " parameter sets, ", refused, " of them refused"));
}

void CheckPinProof(const json& file, const WhirVectorOptions& options, WhirComparison& comparison) {
  const auto config = CheckedPinConfig(file.at("config"), comparison);
  if (!config.ok()) return;
  const std::vector<WhirClaim> claims = JsonClaims(file.at("claims"), kDegree);
  comparison.Expect(file.at("domain_separator") == WhirDomainSeparator(*config), "domain separator");
  const auto proof = WhirProofFromJson(file.at("proof").dump(), kDegree, WhirJsonForm::kVectors);
  if (!proof.ok()) ThrowJsonError(std::string(proof.status().message()));

  WhirTranscriptLog log;
  const WhirVerdict verdict = VerifyWhir(*config, claims, *proof, &log);
  CheckEnd(file, verdict, comparison);
  comparison.Expect(JsonExtElements(file.at("folding_randomness"), kDegree) == verdict.opened_point,
                    "opened point");
  // The log has the challenge after the proof too; files end before it or with it.
  if (file.contains("transcript"))
    comparison.Expect(SameTranscript(file.at("transcript"), log), "transcript");
  comparison.Say("verified");
  CheckUpstreamJson(file, *proof, comparison);
  CheckAlterations(file.at("negative"), *config, claims, *proof, comparison);
  if (!MayProve(*config, options)) return;
  const auto again = ProveAgain(file, *config, claims, options, comparison);
  if (again.has_value()) comparison.Expect(*again == *proof, "proof made again");
  comparison.Say("proved again, identical");
}

namespace {

void CompareSumcheck(const json& expected, const WhirSumcheck& got, absl::string_view where,
                     WhirComparison& comparison) {
  WhirElements evaluations;
  for (const json& pair : expected.at("h0_h2")) {
    const WhirElements both = JsonExtElements(pair, kDegree);
    evaluations.insert(evaluations.end(), both.begin(), both.end());
  }
  comparison.Expect(evaluations == got.evaluations, absl::StrCat(where, ": round polynomials"));
  comparison.Expect(JsonElements(expected.at("pow")) == got.nonces, absl::StrCat(where, ": nonces"));
}

// The sponge over all words of the openings: rows, each followed by its path.
void CompareOpenings(const json& count, const json& digest, const std::vector<WhirOpening>& got,
                     const WhirConfig& config, absl::string_view where, WhirComparison& comparison) {
  WhirElements words;
  for (const WhirOpening& opening : got) {
    words.insert(words.end(), opening.row.begin(), opening.row.end());
    for (const kernels::Digest& sibling : opening.path)
      words.insert(words.end(), sibling.begin(), sibling.end());
  }
  const auto& constants = kernels::Poseidon2Width16(config.parameters.constants);
  comparison.Expect(JsonUint(count) == got.size(), absl::StrCat(where, ": number of openings"));
  comparison.Expect(JsonDigest(digest) == kernels::HashWords(constants, words.data(), words.size()),
                    absl::StrCat(where, ": openings"));
}

void CompareRun(const json& file, const WhirConfig& config, const WhirProof& proof,
                WhirComparison& comparison) {
  comparison.Expect(JsonDigest(file.at("initial_commitment").at(0)) == proof.commitment, "commitment");
  comparison.Expect(JsonExtElements(file.at("initial_ood_answers"), kDegree) == proof.ood_answers,
                    "OOD answers");
  CompareSumcheck(file.at("initial_sumcheck"), proof.sumcheck, "initial fold", comparison);
  const json& rounds = file.at("rounds");
  if (!comparison.Expect(rounds.size() == proof.rounds.size(), "number of rounds")) return;
  for (size_t i = 0; i < rounds.size(); ++i) {
    const std::string where = absl::StrCat("round ", i);
    const WhirRoundProof& round = proof.rounds[i];
    comparison.Expect(JsonDigest(rounds[i].at("commitment").at(0)) == round.commitment,
                      where + ": commitment");
    comparison.Expect(JsonExtElements(rounds[i].at("ood_answers"), kDegree) == round.ood_answers,
                      where + ": OOD answers");
    comparison.Expect(JsonElement(rounds[i].at("pow_witness")) == round.pow_witness, where + ": nonce");
    CompareOpenings(rounds[i].at("openings"), rounds[i].at("openings_digest"), round.openings, config, where,
                    comparison);
    CompareSumcheck(rounds[i].at("sumcheck"), round.sumcheck, where + " fold", comparison);
  }
  comparison.Expect(JsonExtElements(file.at("final_poly"), kDegree) == proof.final_polynomial,
                    "final polynomial");
  comparison.Expect(JsonElement(file.at("final_pow_witness")) == proof.final_pow_witness, "final nonce");
  CompareOpenings(file.at("final_openings"), file.at("final_openings_digest"), proof.final_openings, config,
                  "final", comparison);
  const json& final_sumcheck = file.at("final_sumcheck");
  if (!comparison.Expect(final_sumcheck.is_null() != proof.final_sumcheck.has_value(), "final fold")) return;
  if (proof.final_sumcheck.has_value())
    CompareSumcheck(final_sumcheck, *proof.final_sumcheck, "final fold", comparison);
  comparison.Expect(WhirBincodeBytes(proof) == JsonUint(file.at("bincode_bytes")), "length in bincode");
}

}  // namespace

void CheckPinRun(const json& file, const WhirVectorOptions& options, WhirComparison& comparison) {
  const auto config = CheckedPinConfig(file.at("config"), comparison);
  if (!config.ok() || !MayProve(*config, options)) return;
  const std::vector<WhirClaim> claims = JsonClaims(file.at("claims"), kDegree);
  const auto proof = ProveAgain(file, *config, claims, options, comparison);
  if (!proof.has_value()) return;
  CompareRun(file, *config, *proof, comparison);
  CheckEnd(file, VerifyWhir(*config, claims, *proof), comparison);
  comparison.Say("proved, identical up to the openings' digests, and verified");
}

}  // namespace proofmill::engine
