// The domain separator: one number for each step of the protocol, made of its kind, its label and a count.

#include <cstdint>
#include <vector>

#include "engine/whir/parameters.h"

namespace proofmill::engine {
namespace {

constexpr uint32_t kSample = 0, kObserve = 1, kHint = 2;
// Labels of samples, of observations and of hints.
constexpr uint32_t kInitialCombination = 0, kFolding = 1, kCombination = 2, kStirQueries = 3,
                   kFinalQueries = 4, kPow = 5, kOod = 6, kCheckpoint = 7;
constexpr uint32_t kDigest = 0, kOodAnswers = 1, kSumcheck = 2, kFinalCoefficients = 4, kNonce = 5,
                   kParameter = 6;
constexpr uint32_t kHintStirQueries = 0, kHintStirAnswers = 1, kHintMerkle = 2, kHintDeferred = 3;

class Separator {
 public:
  void Sample(uint32_t label, uint32_t count) { out_.push_back(kSample + label + count); }
  void Observe(uint32_t label, uint32_t count) { out_.push_back(kObserve + label + count); }
  void Hint(uint32_t label) { out_.push_back(kHint + label); }

  void Parameter(uint32_t value) {
    Observe(kParameter, 0);
    out_.push_back(value);
  }
  void Pow(uint32_t bits) {
    if (bits == 0) return;
    Sample(kPow, 32);
    Observe(kNonce, 8);
  }
  void Sumcheck(uint32_t rounds, uint32_t pow_bits) {
    for (uint32_t i = 0; i < rounds; ++i) {
      Observe(kSumcheck, 2);
      Sample(kFolding, 1);
      Pow(pow_bits);
    }
  }
  void Ood(uint32_t count) {
    if (count == 0) return;
    Sample(kOod, count);
    Observe(kOodAnswers, count);
  }
  std::vector<uint32_t> Take() { return std::move(out_); }

 private:
  std::vector<uint32_t> out_;
};

// Bytes of one index.
uint32_t IndexBytes(uint32_t log_domain, uint32_t folding) { return (log_domain - folding + 7) / 8; }

void Header(const WhirParameters& p, Separator& s) {
  s.Parameter(p.num_variables);
  s.Parameter(p.security_level);
  s.Parameter(p.log_inv_rate);
  s.Parameter(p.max_pow_bits);
  s.Parameter(static_cast<uint32_t>(p.assumption));
  s.Parameter(p.folding.constant ? 0 : 1);
  s.Parameter(p.folding.first);
  if (!p.folding.constant) s.Parameter(p.folding.rest);
}

}  // namespace

std::vector<uint32_t> WhirDomainSeparator(const WhirConfig& config) {
  const WhirParameters& p = config.parameters;
  Separator s;
  Header(p, s);
  s.Observe(kDigest, 8);
  s.Ood(config.ood_samples);
  s.Sample(kInitialCombination, 1);
  s.Sumcheck(p.folding.first, config.fold_pow_bits);
  for (const WhirRound& round : config.rounds) {
    s.Observe(kDigest, 8);
    s.Ood(round.ood_samples);
    s.Pow(round.pow_bits);
    s.Sample(kCheckpoint, 1);
    s.Sample(kStirQueries, round.queries * IndexBytes(round.log_domain, round.folding));
    s.Hint(kHintStirQueries);
    s.Hint(kHintMerkle);
    s.Sample(kCombination, 1);
    s.Sumcheck(p.folding.rest, round.fold_pow_bits);
  }
  s.Observe(kFinalCoefficients, uint32_t{1} << config.final_variables);
  s.Pow(config.final_pow_bits);
  s.Sample(kFinalQueries, config.final_queries * IndexBytes(config.final_log_domain, config.final_folding));
  s.Hint(kHintStirAnswers);
  s.Hint(kHintMerkle);
  s.Sumcheck(config.final_variables, config.final_fold_pow_bits);
  s.Hint(kHintDeferred);
  return s.Take();
}

}  // namespace proofmill::engine
