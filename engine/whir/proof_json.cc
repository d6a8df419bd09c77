#include "engine/whir/proof_json.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/json_text.h"
#include "engine/whir/json_values.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using kernels::Digest;
// Upstream's member order is that of its declarations.
using Json = nlohmann::ordered_json;

constexpr size_t kProofJsonBytesMax = size_t{64} << 20;

class Writer {
 public:
  Writer(size_t degree, WhirJsonForm form) : degree_(degree), upstream_(form == WhirJsonForm::kUpstream) {}

  Json Proof(const WhirProof& proof) const {
    Json out;
    out["initial_commitment"] = Root(proof.commitment);
    out["initial_ood_answers"] = Elements(proof.ood_answers);
    out["initial_sumcheck"] = Sumcheck(proof.sumcheck);
    out["rounds"] = Json::array();
    for (const WhirRoundProof& round : proof.rounds) {
      Json part;
      part["commitment"] = Root(round.commitment);
      part["ood_answers"] = Elements(round.ood_answers);
      part["pow_witness"] = Number(round.pow_witness);
      part["queries"] = Openings(round.openings);
      part["sumcheck"] = Sumcheck(round.sumcheck);
      out["rounds"].push_back(std::move(part));
    }
    out["final_poly"] = Elements(proof.final_polynomial);
    out["final_pow_witness"] = Number(proof.final_pow_witness);
    out["final_queries"] = Openings(proof.final_openings);
    out["final_sumcheck"] =
        proof.final_sumcheck.has_value() ? Sumcheck(*proof.final_sumcheck) : Json(nullptr);
    return out;
  }

 private:
  Json Number(BabyBear x) const { return upstream_ ? x.montgomery() : x.ToCanonical(); }
  template <typename Words>
  Json Numbers(const Words& words) const {
    Json out = Json::array();
    for (const BabyBear x : words) out.push_back(Number(x));
    return out;
  }
  Json Element(const WhirElements& list, size_t i) const {
    Json words = Numbers(absl::MakeConstSpan(list).subspan(i * degree_, degree_));
    if (!upstream_) return words;
    return {{"value", std::move(words)}, {"_phantom", nullptr}};
  }
  Json Elements(const WhirElements& list) const {
    Json out = Json::array();
    for (size_t i = 0; i < list.size() / degree_; ++i) out.push_back(Element(list, i));
    return out;
  }
  Json Root(const Digest& digest) const {
    Json cap = Json::array();
    cap.push_back(Numbers(digest));
    if (!upstream_) return cap;
    return {{"cap", std::move(cap)}, {"_marker", nullptr}};
  }
  Json Sumcheck(const WhirSumcheck& sumcheck) const {
    Json pairs = Json::array();
    for (size_t i = 0; i < sumcheck.evaluations.size() / (2 * degree_); ++i) {
      Json pair = Json::array();
      pair.push_back(Element(sumcheck.evaluations, 2 * i));
      pair.push_back(Element(sumcheck.evaluations, 2 * i + 1));
      pairs.push_back(std::move(pair));
    }
    return {{upstream_ ? "polynomial_evaluations" : "h0_h2", std::move(pairs)},
            {upstream_ ? "pow_witnesses" : "pow", Numbers(sumcheck.nonces)}};
  }
  Json Openings(const std::vector<WhirOpening>& openings) const {
    Json out = Json::array();
    for (const WhirOpening& opening : openings) {
      Json path = Json::array();
      for (const Digest& digest : opening.path) path.push_back(Numbers(digest));
      out.push_back({{"type", opening.extension ? "extension" : "base"},
                     {"values", opening.extension ? Elements(opening.row) : Numbers(opening.row)},
                     {upstream_ ? "proof" : "path", std::move(path)}});
    }
    return out;
  }

  const size_t degree_;
  const bool upstream_;
};

class Reader {
 public:
  Reader(size_t degree, WhirJsonForm form)
      : degree_(degree),
        upstream_(form == WhirJsonForm::kUpstream),
        numbers_(upstream_ ? WhirNumbers::kMontgomery : WhirNumbers::kCanonical) {}

  WhirProof Proof(const nlohmann::json& value) const {
    WhirProof proof;
    proof.commitment = Root(value.at("initial_commitment"));
    proof.ood_answers = Elements(value.at("initial_ood_answers"));
    proof.sumcheck = Sumcheck(value.at("initial_sumcheck"));
    for (const nlohmann::json& round : value.at("rounds")) {
      proof.rounds.push_back({.commitment = Root(round.at("commitment")),
                              .ood_answers = Elements(round.at("ood_answers")),
                              .pow_witness = JsonElement(round.at("pow_witness"), numbers_),
                              .openings = Openings(round.at("queries")),
                              .sumcheck = Sumcheck(round.at("sumcheck"))});
    }
    proof.final_polynomial = Elements(value.at("final_poly"));
    proof.final_pow_witness = JsonElement(value.at("final_pow_witness"), numbers_);
    proof.final_openings = Openings(value.at("final_queries"));
    const nlohmann::json& final_sumcheck = value.at("final_sumcheck");
    if (!final_sumcheck.is_null()) proof.final_sumcheck = Sumcheck(final_sumcheck);
    return proof;
  }

 private:
  void AppendElement(const nlohmann::json& value, WhirElements& out) const {
    const nlohmann::json& words = upstream_ ? value.at("value") : value;
    if (words.size() != degree_) {
      ThrowJsonError(absl::StrCat("expected ", degree_, " coefficients, got ", words.size()));
    }
    AppendJsonElements(words, numbers_, out);
  }
  WhirElements Elements(const nlohmann::json& list) const {
    WhirElements out;
    for (const nlohmann::json& value : list.get_ref<const nlohmann::json::array_t&>())
      AppendElement(value, out);
    return out;
  }
  Digest Root(const nlohmann::json& value) const {
    const nlohmann::json& cap = upstream_ ? value.at("cap") : value;
    if (cap.size() != 1) ThrowJsonError(absl::StrCat("root: expected 1 digest, got ", cap.size()));
    return JsonDigest(cap.at(0), numbers_);
  }
  WhirSumcheck Sumcheck(const nlohmann::json& value) const {
    WhirSumcheck out;
    const nlohmann::json& pairs = value.at(upstream_ ? "polynomial_evaluations" : "h0_h2");
    for (const nlohmann::json& pair : pairs.get_ref<const nlohmann::json::array_t&>()) {
      if (pair.size() != 2) ThrowJsonError(absl::StrCat("sumcheck: expected 2 values, got ", pair.size()));
      AppendElement(pair.at(0), out.evaluations);
      AppendElement(pair.at(1), out.evaluations);
    }
    out.nonces = JsonElements(value.at(upstream_ ? "pow_witnesses" : "pow"), numbers_);
    return out;
  }
  std::vector<WhirOpening> Openings(const nlohmann::json& list) const {
    std::vector<WhirOpening> out;
    for (const nlohmann::json& value : list.get_ref<const nlohmann::json::array_t&>()) {
      WhirOpening& opening = out.emplace_back();
      const auto& type = value.at("type").get_ref<const std::string&>();
      if (type != "base" && type != "extension") ThrowJsonError("query: expected type base or extension");
      opening.extension = type == "extension";
      opening.row =
          opening.extension ? Elements(value.at("values")) : JsonElements(value.at("values"), numbers_);
      const nlohmann::json& path = value.at(upstream_ ? "proof" : "path");
      for (const nlohmann::json& digest : path.get_ref<const nlohmann::json::array_t&>()) {
        opening.path.push_back(JsonDigest(digest, numbers_));
      }
    }
    return out;
  }

  const size_t degree_;
  const bool upstream_;
  const WhirNumbers numbers_;
};

size_t BincodeBytes(const WhirSumcheck& sumcheck) {
  return 16 + 4 * (sumcheck.evaluations.size() + sumcheck.nonces.size());
}
size_t BincodeBytes(const std::vector<WhirOpening>& openings) {
  size_t bytes = 8;
  for (const WhirOpening& opening : openings) {
    const size_t name = opening.extension ? 9 : 4;  // "extension" or "base"
    bytes += 8 + name + 8 + 4 * opening.row.size() + 8 + 32 * opening.path.size();
  }
  return bytes;
}

}  // namespace

std::string WhirProofToJson(const WhirProof& proof, size_t degree, WhirJsonForm form) {
  return Writer(degree, form).Proof(proof).dump();
}

absl::StatusOr<WhirProof> WhirProofFromJson(std::string_view text, size_t degree, WhirJsonForm form) {
  PROOFMILL_ASSIGN_OR_RETURN(const nlohmann::json value,
                             ParseJsonText("WHIR proof", text, kProofJsonBytesMax));
  try {
    return Reader(degree, form).Proof(value);
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("WHIR proof: ", JsonErrorText(error)));
  }
}

// A root is an option byte, a length and a digest; lists begin with their length; final_sumcheck is an
// option.
size_t WhirBincodeBytes(const WhirProof& proof) {
  constexpr size_t kRoot = 9 + 32;
  size_t bytes = kRoot + 8 + 4 * proof.ood_answers.size() + BincodeBytes(proof.sumcheck) + 8;
  for (const WhirRoundProof& round : proof.rounds) {
    bytes += kRoot + 8 + 4 * round.ood_answers.size() + 4 + BincodeBytes(round.openings) +
             BincodeBytes(round.sumcheck);
  }
  bytes += 8 + 4 * proof.final_polynomial.size() + 4 + BincodeBytes(proof.final_openings) + 2;
  if (proof.final_sumcheck.has_value()) bytes += BincodeBytes(*proof.final_sumcheck);
  return bytes;
}

}  // namespace proofmill::engine
