#include "engine/whir/parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/whir/bounds.h"

namespace proofmill::engine {
namespace {

constexpr uint32_t kTwoAdicity = 27;
constexpr uint32_t kClearVariables = 6;  // rounds end when so few variables are left

struct Range {
  const char* name;
  uint64_t value, min, max;
};

// The first parameter that is out of the range that its profile offers.
std::string OutOfRange(const WhirParameters& p) {
  const bool strict = p.profile == WhirProfile::kStrict;
  const uint64_t security_max = strict ? 120 : 200, pow_max = strict ? 24 : 31;
  const Range ranges[] = {
      {"extension_degree", p.extension_degree, 4, 5},
      {"num_variables", p.num_variables, 1, 30},
      {"folding", p.folding.first, 1, 8},
      {"folding", p.folding.rest, 1, 8},
      {"log_inv_rate", p.log_inv_rate, 1, 8},
      {"domain_reduction", p.domain_reduction, 1, p.folding.first},
      {"max_pow_bits", p.max_pow_bits, 0, pow_max},
      {"security_level", p.security_level, uint64_t{strict ? p.max_pow_bits : 0} + 1, security_max},
      {"num_claims", p.num_claims, 0, 65535}};
  for (const Range& range : ranges) {
    if (range.value < range.min || range.value > range.max) {
      return absl::StrCat(range.name, ": expected ", range.min, " to ", range.max, ", got ", range.value);
    }
  }
  if (p.constants != kernels::Poseidon2Set::kGrainLfsr &&
      p.constants != kernels::Poseidon2Set::kSmallRngSeed1) {
    return absl::StrCat("constants: expected ", std::string(ConstantsName(kernels::Poseidon2Set::kGrainLfsr)),
                        " or ", std::string(ConstantsName(kernels::Poseidon2Set::kSmallRngSeed1)),
                        ", got another");
  }
  if (p.folding.constant && p.folding.first != p.folding.rest) {
    return "folding: expected one width for constant folding, got two";
  }
  if (static_cast<uint32_t>(p.assumption) > 2) return "assumption: expected a known one";
  if (strict && p.assumption == WhirAssumption::kCapacityBound) {
    return "assumption: expected UniqueDecoding or JohnsonBound, got CapacityBound, which is conjectural and "
           "not offered";
  }
  return "";
}

// The number of rounds, and of variables left after them; negative if more are folded than there are.
struct Shape {
  uint32_t rounds;
  int64_t final_variables;
};
Shape ShapeOf(const WhirParameters& p) {
  const int64_t n = p.num_variables;
  const auto cover = [](int64_t variables, int64_t width) {
    return (variables - kClearVariables + width - 1) / width;
  };
  if (p.folding.constant) {
    const int64_t k = p.folding.first;
    if (n <= kClearVariables) return {0, n - k};
    return {static_cast<uint32_t>(cover(n, k) - 1), n - cover(n, k) * k};
  }
  const int64_t left = n - p.folding.first;
  if (left < kClearVariables) return {0, left};
  const int64_t rounds = cover(left, p.folding.rest);
  return {static_cast<uint32_t>(rounds), left - rounds * p.folding.rest};
}

std::string ShapeError(const WhirParameters& p) {
  if (ShapeOf(p).final_variables < 0) return "more variables are folded than there are";
  if (p.num_variables + p.log_inv_rate > kTwoAdicity + p.folding.first) {
    return absl::StrCat("num_variables + log_inv_rate - folding: expected at most ", kTwoAdicity,
                        " (the two-adicity of the field), got ",
                        p.num_variables + p.log_inv_rate - p.folding.first);
  }
  return "";
}

// Fills `config`; false if no number of out-of-domain samples is enough.
bool Derive(const WhirParameters& p, WhirConfig& config) {
  const WhirBounds bounds(p);
  const Shape shape = ShapeOf(p);
  const double query_bits = p.security_level > p.max_pow_bits ? p.security_level - p.max_pow_bits : 0;
  const auto initial_ood = bounds.OodSamples(p.num_variables, p.log_inv_rate);
  if (!initial_ood.has_value()) return false;
  config.parameters = p;
  config.ood_samples = *initial_ood;
  config.fold_pow_bits = bounds.FoldPowBits(p.num_variables, p.log_inv_rate);
  config.rounds.clear();
  uint32_t d = p.num_variables - p.folding.first, rate = p.log_inv_rate,
           domain = p.num_variables + p.log_inv_rate;
  for (uint32_t i = 0; i < shape.rounds; ++i) {
    const uint32_t k = p.folding.at(i), reduction = i == 0 ? p.domain_reduction : 1,
                   next_rate = rate + k - reduction;
    const uint32_t queries = bounds.Queries(query_bits, rate);
    const auto ood = bounds.OodSamples(d, next_rate);
    if (!ood.has_value()) return false;
    const double have = std::min(-static_cast<double>(queries) * bounds.LogMiss(rate),
                                 bounds.Combination(*ood + queries, d, next_rate));
    config.rounds.push_back({.num_variables = d,
                             .folding = k,
                             .log_domain = domain,
                             .domain_reduction = reduction,
                             .queries = queries,
                             .ood_samples = *ood,
                             .pow_bits = bounds.PowBits(have),
                             .fold_pow_bits = bounds.FoldPowBits(d, next_rate)});
    d -= p.folding.at(i + 1);
    rate = next_rate;
    domain -= reduction;
  }
  config.final_variables = static_cast<uint32_t>(shape.final_variables);
  config.final_queries = bounds.Queries(query_bits, rate);
  config.final_pow_bits = bounds.PowBits(-static_cast<double>(config.final_queries) * bounds.LogMiss(rate));
  config.final_fold_pow_bits = bounds.PowBits(bounds.field_bits() - 1);
  config.final_log_domain = domain;
  config.final_folding = p.folding.at(shape.rounds);
  return true;
}

// What strict refuses of derived parameters.
std::optional<WhirRefusal> StrictRefusal(const WhirConfig& config) {
  const WhirParameters& p = config.parameters;
  const std::vector<WhirGrind> grinds = config.Grinds();
  const auto worst =
      std::max_element(grinds.begin(), grinds.end(),
                       [](const WhirGrind& a, const WhirGrind& b) { return a.second < b.second; });
  if (worst->second > p.max_pow_bits) {
    return WhirRefusal{
        .reason = "grind over budget", .grind = worst->first, .bits = worst->second, .has_fits = true};
  }
  const uint32_t terms = p.num_claims + config.ood_samples;
  if (terms > 0 && WhirBounds(p).Combination(terms, p.num_variables, p.log_inv_rate) < p.security_level) {
    return WhirRefusal{.reason = "too many claims", .has_fits = true};
  }
  return std::nullopt;
}

// With folding that narrows after the first round a later commitment can be higher than the first.
std::string HeightError(const WhirConfig& config) {
  for (size_t i = 1; i <= config.rounds.size(); ++i) {
    if (config.log_height(i) > kTwoAdicity) {
      return absl::StrCat("rows of commitment ", i, ": expected at most 2^", kTwoAdicity,
                          " (the two-adicity of the field), got 2^", config.log_height(i));
    }
  }
  return "";
}

std::optional<WhirRefusal> TryDerive(const WhirParameters& p, WhirConfig& config) {
  std::string reason = OutOfRange(p);
  if (reason.empty()) reason = ShapeError(p);
  if (reason.empty() && !Derive(p, config)) reason = "no number of out-of-domain samples is enough";
  if (reason.empty()) reason = HeightError(config);
  if (!reason.empty()) return WhirRefusal{.reason = std::move(reason)};
  if (p.profile == WhirProfile::kPin) return std::nullopt;
  return StrictRefusal(config);
}

uint32_t LargestSmallerLevel(WhirParameters p) {
  WhirConfig config;
  for (uint32_t level = p.security_level - 1; level > p.max_pow_bits; --level) {
    p.security_level = level;
    if (!TryDerive(p, config).has_value()) return level;
  }
  return 0;
}

std::string RefusalText(const WhirRefusal& refusal, const WhirParameters& p) {
  std::string text = absl::StrCat("parameters refused: ", refusal.reason);
  if (!refusal.grind.empty()) {
    absl::StrAppend(&text, ": ", refusal.grind, ": expected at most ", p.max_pow_bits, " bits, got ",
                    refusal.bits);
  }
  if (refusal.has_fits) {
    absl::StrAppend(&text, "; the largest smaller security level that fits: ",
                    refusal.fits == 0 ? "none" : absl::StrCat(refusal.fits));
  }
  return text;
}

}  // namespace

std::string_view AssumptionName(WhirAssumption assumption) {
  switch (assumption) {
    case WhirAssumption::kUniqueDecoding:
      return "UniqueDecoding";
    case WhirAssumption::kJohnsonBound:
      return "JohnsonBound";
    case WhirAssumption::kCapacityBound:
      return "CapacityBound";
  }
  return "unknown";
}

std::string_view ConstantsName(kernels::Poseidon2Set set) {
  return set == kernels::Poseidon2Set::kGrainLfsr ? "default_grain_lfsr" : "benchmark_smallrng_seed1";
}

uint32_t WhirConfig::log_height(size_t commitment) const {
  if (commitment == 0) return parameters.num_variables + parameters.log_inv_rate - parameters.folding.first;
  const WhirRound& round = rounds[commitment - 1];
  return round.log_domain - round.domain_reduction - parameters.folding.at(commitment);
}

std::vector<WhirGrind> WhirConfig::Grinds() const {
  std::vector<WhirGrind> out = {{"initial_fold", fold_pow_bits}};
  for (size_t i = 0; i < rounds.size(); ++i) {
    out.emplace_back(absl::StrCat("round_", i, "_query"), rounds[i].pow_bits);
    out.emplace_back(absl::StrCat("round_", i, "_fold"), rounds[i].fold_pow_bits);
  }
  out.emplace_back("final_query", final_pow_bits);
  out.emplace_back("final_fold", final_fold_pow_bits);
  return out;
}

double WhirConfig::ExpectedNonces() const {
  const auto nonces = [](uint32_t bits, uint32_t times) {
    return bits == 0 ? 0 : std::ldexp(times, static_cast<int>(bits));
  };
  double sum = nonces(fold_pow_bits, parameters.folding.first);
  for (const WhirRound& round : rounds) {
    sum += nonces(round.pow_bits, 1) + nonces(round.fold_pow_bits, parameters.folding.rest);
  }
  return sum + nonces(final_pow_bits, 1) + nonces(final_fold_pow_bits, final_variables);
}

absl::StatusOr<WhirConfig> DeriveWhirConfig(const WhirParameters& parameters, WhirRefusal* refusal) {
  WhirConfig config;
  std::optional<WhirRefusal> refused = TryDerive(parameters, config);
  if (!refused.has_value()) return config;
  if (refused->has_fits) refused->fits = LargestSmallerLevel(parameters);
  absl::Status status = absl::InvalidArgumentError(RefusalText(*refused, parameters));
  if (refusal != nullptr) *refusal = *std::move(refused);
  return status;
}

}  // namespace proofmill::engine
