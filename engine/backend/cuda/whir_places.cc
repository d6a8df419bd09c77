#include "engine/backend/cuda/whir_places.h"

#include <algorithm>

namespace proofmill::engine {
namespace {

using kernels::BabyBear;

class Placer {
 public:
  explicit Placer(uint32_t degree) : degree_(degree) {}

  size_t Take(size_t words) {
    const size_t place = words_;
    words_ += words;
    return place;
  }
  WhirCommitPlaces Commit(uint32_t ood_samples) {
    return {.root = Take(8), .ood_answers = Take(size_t{ood_samples} * degree_), .ood_samples = ood_samples};
  }
  WhirSumcheckPlaces Sumcheck(uint32_t rounds, uint32_t pow_bits) {
    return {.evaluations = Take(2 * size_t{rounds} * degree_),
            .nonces = Take(rounds),
            .rounds = rounds,
            .pow_bits = pow_bits};
  }
  WhirOpeningPlaces Openings(uint32_t queries, uint32_t folding, uint32_t log_height, bool extension) {
    WhirOpeningPlaces out;
    out.queries = queries;
    out.width = (extension ? degree_ : 1) << folding;
    out.log_height = log_height;
    out.extension = extension;
    out.count = Take(1);
    out.rows = Take(queries * out.words_each());
    return out;
  }

 private:
  const uint32_t degree_;
  size_t words_ = 0;
};

class Reader {
 public:
  Reader(uint32_t degree, const uint32_t* words) : degree_(degree), words_(words) {}

  BabyBear Element(size_t place) const { return BabyBear::FromMontgomery(words_[place]); }
  WhirElements Elements(size_t place, size_t count) const {
    WhirElements out(count);
    for (size_t i = 0; i < count; ++i) out[i] = Element(place + i);
    return out;
  }
  kernels::Digest Digest(size_t place) const {
    kernels::Digest out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = Element(place + i);
    return out;
  }
  WhirElements Ood(const WhirCommitPlaces& places) const {
    return Elements(places.ood_answers, size_t{places.ood_samples} * degree_);
  }
  WhirSumcheck Sumcheck(const WhirSumcheckPlaces& places) const {
    return {Elements(places.evaluations, 2 * size_t{places.rounds} * degree_),
            Elements(places.nonces, places.pow_bits > 0 ? places.rounds : 0)};
  }
  std::vector<WhirOpening> Openings(const WhirOpeningPlaces& places) const {
    std::vector<WhirOpening> out(std::min(words_[places.count], places.queries));
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t place = places.rows + i * places.words_each();
      out[i].extension = places.extension;
      out[i].row = Elements(place, places.width);
      for (size_t level = 0; level < places.log_height; ++level)
        out[i].path.push_back(Digest(place + places.width + 8 * level));
    }
    return out;
  }

 private:
  const uint32_t degree_;
  const uint32_t* const words_;
};

}  // namespace

WhirPlaces PlaceWhirProof(const WhirConfig& config) {
  Placer placer(config.degree());
  const WhirFolding& folding = config.parameters.folding;
  WhirPlaces out;
  out.commit = placer.Commit(config.ood_samples);
  out.sumcheck = placer.Sumcheck(folding.first, config.fold_pow_bits);
  for (const WhirRound& round : config.rounds) {
    WhirRoundPlaces& places = out.rounds.emplace_back();
    places.commit = placer.Commit(round.ood_samples);
    places.nonce = placer.Take(1);
    places.openings = placer.Openings(round.queries, round.folding, round.log_domain - round.folding,
                                      out.rounds.size() > 1);
    places.sumcheck = placer.Sumcheck(folding.rest, round.fold_pow_bits);
  }
  out.final_polynomial = placer.Take(size_t{config.degree()} << config.final_variables);
  out.final_nonce = placer.Take(1);
  out.final_openings =
      placer.Openings(config.final_queries, config.final_folding,
                      config.final_log_domain - config.final_folding, !config.rounds.empty());
  out.final_sumcheck = placer.Sumcheck(config.final_variables, config.final_fold_pow_bits);
  out.words = placer.Take(0);
  return out;
}

WhirProof ReadWhirProof(const WhirConfig& config, const WhirPlaces& places, const uint32_t* words) {
  const Reader reader(config.degree(), words);
  WhirProof proof;
  proof.commitment = reader.Digest(places.commit.root);
  proof.ood_answers = reader.Ood(places.commit);
  proof.sumcheck = reader.Sumcheck(places.sumcheck);
  for (size_t i = 0; i < places.rounds.size(); ++i) {
    const WhirRoundPlaces& round = places.rounds[i];
    WhirRoundProof& out = proof.rounds.emplace_back();
    out.commitment = reader.Digest(round.commit.root);
    out.ood_answers = reader.Ood(round.commit);
    if (config.rounds[i].pow_bits > 0) out.pow_witness = reader.Element(round.nonce);
    out.openings = reader.Openings(round.openings);
    out.sumcheck = reader.Sumcheck(round.sumcheck);
  }
  proof.final_polynomial =
      reader.Elements(places.final_polynomial, size_t{config.degree()} << config.final_variables);
  if (config.final_pow_bits > 0) proof.final_pow_witness = reader.Element(places.final_nonce);
  proof.final_openings = reader.Openings(places.final_openings);
  if (config.final_variables > 0) proof.final_sumcheck = reader.Sumcheck(places.final_sumcheck);
  return proof;
}

uint64_t WhirNoncesTried(const WhirConfig& config, const WhirProof& proof) {
  uint64_t tried = 0;
  const auto add = [&](BabyBear nonce) { tried += uint64_t{nonce.ToCanonical()} + 1; };
  const auto add_all = [&](const WhirElements& nonces) { std::for_each(nonces.begin(), nonces.end(), add); };
  add_all(proof.sumcheck.nonces);
  for (size_t i = 0; i < proof.rounds.size(); ++i) {
    if (config.rounds[i].pow_bits > 0) add(proof.rounds[i].pow_witness);
    add_all(proof.rounds[i].sumcheck.nonces);
  }
  if (config.final_pow_bits > 0) add(proof.final_pow_witness);
  if (proof.final_sumcheck.has_value()) add_all(proof.final_sumcheck->nonces);
  return tried;
}

}  // namespace proofmill::engine
