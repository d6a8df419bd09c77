// Known answers of the strict profile: parameter sets, and proofs with alterations and forgeries.

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/whir/json_values.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/prover.h"
#include "engine/whir/statement.h"
#include "engine/whir/vector_parts.h"
#include "engine/whir/verifier.h"

namespace proofmill::engine {
namespace {

using nlohmann::json;

json DerivedJson(const WhirConfig& config) {
  json ood = {config.ood_samples}, queries = json::array(), pow = json::array(),
       fold_pow = {config.fold_pow_bits};
  for (const WhirRound& round : config.rounds) {
    ood.push_back(round.ood_samples);
    queries.push_back(round.queries);
    pow.push_back(round.pow_bits);
    fold_pow.push_back(round.fold_pow_bits);
  }
  queries.push_back(config.final_queries);
  pow.push_back(config.final_pow_bits);
  fold_pow.push_back(config.final_fold_pow_bits);
  return {{"final_vars", config.final_variables},
          {"ood", ood},
          {"queries", queries},
          {"pow", pow},
          {"fold_pow", fold_pow},
          {"max_bytes", WhirProofBytesMax(config)}};
}

void CompareParameters(const WhirParameters& p, const json& expected, const std::string& what,
                       WhirComparison& comparison) {
  WhirRefusal refusal;
  const auto config = DeriveWhirConfig(p, &refusal);
  if (config.ok()) {
    comparison.Expect(DerivedJson(*config) == expected, what);
    return;
  }
  comparison.Expect(expected.contains("reason"), what);
  if (expected.contains("grind")) {
    comparison.Expect(expected.at("grind") == refusal.grind && expected.at("bits") == refusal.bits, what);
  }
  if (expected.contains("fits"))
    comparison.Expect(refusal.has_fits && expected.at("fits") == refusal.fits, what);
}

std::vector<uint8_t> HexBytes(const json& value) {
  std::string bytes;
  const auto& hex = value.get_ref<const std::string&>();
  if (hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos || hex.size() % 2 != 0) {
    ThrowJsonError("expected an even number of hexadecimal digits");
  }
  bytes = absl::HexStringToBytes(hex);
  return {bytes.begin(), bytes.end()};
}

// `patch`, then `truncate_to` or `append`.
std::vector<uint8_t> Altered(std::vector<uint8_t> bytes, const json& alteration) {
  for (const json& patch : alteration.at("patch")) {
    const uint64_t at = JsonUint(patch.at(0)), byte = JsonUint(patch.at(1));
    if (at >= bytes.size() || byte > 255)
      ThrowJsonError(absl::StrCat("patch: no byte ", byte, " fits at ", at));
    bytes[at] = static_cast<uint8_t>(byte);
  }
  if (alteration.contains("truncate_to")) {
    bytes.resize(std::min<size_t>(bytes.size(), JsonUint(alteration.at("truncate_to"))));
  }
  if (alteration.contains("append")) {
    const std::vector<uint8_t> more = HexBytes(alteration.at("append"));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

// Whether the proof is accepted for another statement. Numbers that are no field elements are rejected on the
// way.
bool VerifiesFor(const json& other, const std::vector<uint8_t>& proof) {
  try {
    const WhirParameters p = JsonStrictParameters(other.at("parameters"));
    const std::vector<WhirClaim> claims = JsonClaims(other.at("claims"), p.extension_degree);
    const auto config = DeriveWhirConfig(p);
    return config.ok() && VerifyWhirBytes(*config, claims, proof).valid;
  } catch (const json::other_error&) {
    return false;
  }
}

struct Statement {
  WhirConfig config;
  std::vector<WhirClaim> claims;
  std::vector<uint8_t> proof;
};

void CheckRejections(const json& file, const Statement& statement, WhirComparison& comparison) {
  const auto change = [](const json& entry) { return entry.at("change").get<std::string>(); };
  size_t rejected = 0;
  const auto expect_rejected = [&](bool valid, const json& entry) {
    ++rejected;
    comparison.Expect(!valid, absl::StrCat("accepted with ", change(entry)));
  };
  for (const json& entry : file.at("altered_proofs")) {
    expect_rejected(
        VerifyWhirBytes(statement.config, statement.claims, Altered(statement.proof, entry)).valid, entry);
  }
  for (const json& entry : file.at("altered_statements")) {
    expect_rejected(VerifiesFor(entry, statement.proof), entry);
  }
  for (const json& entry : file.value("forged", json::array())) {
    const auto claims = JsonClaims(entry.at("claims"), statement.config.degree());
    expect_rejected(VerifyWhirBytes(statement.config, claims, HexBytes(entry.at("proof_hex"))).valid, entry);
  }
  for (const json& entry : file.value("also_valid", json::array())) {
    comparison.Expect(
        VerifyWhirBytes(statement.config, statement.claims, HexBytes(entry.at("proof_hex"))).valid,
        absl::StrCat("rejected with ", change(entry)));
  }
  comparison.Say(absl::StrCat(rejected, " alterations and forgeries rejected"));
}

void ProveAgain(const json& file, const Statement& statement, const WhirVectorOptions& options,
                WhirComparison& comparison) {
  const WhirVectorInput input =
      DrawVectorInput(JsonUint(file.at("poly_seed")), statement.config.parameters.num_variables,
                      statement.claims.size(), statement.config.degree());
  for (size_t i = 0; i < statement.claims.size(); ++i) {
    comparison.Expect(statement.claims[i].point == input.points[i], "claim points");
  }
  const auto prover = MakeVectorProver(statement.config, options);
  if (!comparison.Expect(prover.ok(), prover.status().message())) return;
  const auto proof = ProveWhirBytes(**prover, input.polynomial, statement.claims, {});
  comparison.Expect(proof.ok() && *proof == statement.proof, "proof made again");
  comparison.Say("proved again, identical");
}

}  // namespace

void CheckStrictParameters(const json& file, WhirComparison& comparison) {
  const json& columns = file.at("columns");
  for (const json& entry : file.at("entries")) {
    json p = file.at("common");
    for (size_t i = 0; i < columns.size(); ++i) p[columns[i].get<std::string>()] = entry.at("in").at(i);
    const json fold = p.at("fold");
    p["folding"] = {{"constant", fold}};
    p["domain_reduction"] = std::min(fold.get<uint32_t>(), 3u);
    if (entry.contains("set")) p.update(entry.at("set"));
    CompareParameters(JsonStrictParameters(p), entry.at("out"), p.dump(), comparison);
  }
  comparison.Say(absl::StrCat(file.at("entries").size(), " parameter sets"));
}

void CheckStrictProof(const json& file, const WhirVectorOptions& options, WhirComparison& comparison) {
  const WhirParameters p = JsonStrictParameters(file.at("parameters"));
  const auto config = DeriveWhirConfig(p);
  if (!comparison.Expect(config.ok(), "parameters refused")) return;
  const Statement statement{*config, JsonClaims(file.at("claims"), p.extension_degree),
                            HexBytes(file.at("proof_hex"))};
  CompareParameters(p, file.at("derived"), "derived parameters", comparison);
  comparison.Expect(file.at("domain_separator") == WhirDomainSeparator(*config), "domain separator");
  if (const std::string error = WhirClaimsError(*config, statement.claims); !error.empty())
    ThrowJsonError(error);
  comparison.Expect(file.at("binding") == WhirBinding(p, statement.claims), "binding");
  const auto decoded = DecodeWhirProof(*config, statement.proof);
  comparison.Expect(decoded.ok() && EncodeWhirProof(*config, *decoded) == statement.proof,
                    "bytes, read and written");

  WhirTranscriptLog log;
  const WhirVerdict verdict = VerifyWhirBytes(*config, statement.claims, statement.proof, &log);
  comparison.Expect(verdict.valid, absl::StrCat("rejected: ", verdict.rejected_at));
  comparison.Expect(JsonElements(file.at("final_challenge_after_proof")) == verdict.final_challenge,
                    "challenge after the proof");
  comparison.Expect(JsonExtElements(file.at("opened_point"), p.extension_degree) == verdict.opened_point,
                    "opened point");
  comparison.Expect(SameTranscript(file.at("transcript"), log), "transcript");
  comparison.Say("verified");
  CheckRejections(file, statement, comparison);
  if (MayProve(*config, options)) ProveAgain(file, statement, options, comparison);
}

}  // namespace proofmill::engine
