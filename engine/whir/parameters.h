// The parameters of a WHIR proof (Arnon, Chiesa, Fenzi, Yogev, EUROCRYPT 2025) over BabyBear, and what
// follows from them: rounds, queries, out-of-domain samples and proof-of-work bits.
//
// Two profiles. `strict` is the one that the service offers: security is rounded up, proof of work over its
// budget is refused, parameters and claims are bound into the transcript. `pin` does what whir-p3 (commit
// ffe07b5) does, to the byte, for comparison with its runs.
//
// WHIR as built here is NOT hiding: a proof reveals values of the polynomial. It shows that the claims hold,
// nothing more. The capacity bound rests on a conjecture that was refuted in its general form (Crites and
// Stewart, eprint 2025/2046), although no attack on these parameters is known: `pin` has it for comparison,
// `strict` refuses it.
//
// Thread safety: plain data and pure functions.

#ifndef PROOFMILL_ENGINE_WHIR_PARAMETERS_H_
#define PROOFMILL_ENGINE_WHIR_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/field/poseidon2.h"

namespace proofmill::engine {

enum class WhirProfile { kPin, kStrict };

// The distance up to which words are taken to be near to few codewords only. The numbers go into the
// transcript.
enum class WhirAssumption : uint32_t {
  kUniqueDecoding = 0,
  kJohnsonBound = 1,
  kCapacityBound = 2,  // conjectural, and refuted in its general form
};
// "UniqueDecoding", "JohnsonBound", "CapacityBound".
std::string_view AssumptionName(WhirAssumption assumption);
// "default_grain_lfsr", "benchmark_smallrng_seed1".
std::string_view ConstantsName(kernels::Poseidon2Set set);

// How many variables each round folds: `first` in the first, `rest` in the others.
struct WhirFolding {
  bool constant = true;  // then first == rest
  uint32_t first = 4;
  uint32_t rest = 4;

  static WhirFolding Constant(uint32_t width) { return {true, width, width}; }
  static WhirFolding FirstRest(uint32_t first, uint32_t rest) { return {false, first, rest}; }
  uint32_t at(size_t round) const { return round == 0 ? first : rest; }
};

struct WhirParameters {
  WhirProfile profile = WhirProfile::kStrict;
  uint32_t extension_degree = 5;  // 4 or 5
  kernels::Poseidon2Set constants = kernels::Poseidon2Set::kGrainLfsr;
  uint32_t num_variables = 0;  // the polynomial has 2^num_variables values
  WhirFolding folding;
  uint32_t log_inv_rate = 1;      // of the first code
  uint32_t domain_reduction = 3;  // by how much round 0 shrinks the domain, log2
  uint32_t security_level = 100;  // bits
  uint32_t max_pow_bits = 16;     // budget of one proof of work
  WhirAssumption assumption = WhirAssumption::kJohnsonBound;
  uint32_t num_claims = 1;
};

struct WhirRound {
  uint32_t num_variables;     // of the polynomial committed in this round
  uint32_t folding;           // width with which the previous commitment was folded, log2 of its columns
  uint32_t log_domain;        // log2 of the domain of the previous commitment
  uint32_t domain_reduction;  // of the new domain against it
  uint32_t queries;           // to the previous commitment
  uint32_t ood_samples;
  uint32_t pow_bits;       // before the queries
  uint32_t fold_pow_bits;  // in each sumcheck round that follows
};

// A proof of work and its bits: "initial_fold", "round_0_query", ...
using WhirGrind = std::pair<std::string, uint32_t>;

struct WhirConfig {
  WhirParameters parameters;
  uint32_t ood_samples;  // of the first commitment
  uint32_t fold_pow_bits;
  std::vector<WhirRound> rounds;
  uint32_t final_variables;  // of the polynomial sent in clear
  uint32_t final_queries;
  uint32_t final_pow_bits;
  uint32_t final_fold_pow_bits;
  uint32_t final_log_domain;  // of the last commitment
  uint32_t final_folding;

  uint32_t degree() const { return parameters.extension_degree; }
  // Log2 of the number of rows of commitment i; commitment 0 is the first, i that of round i - 1.
  uint32_t log_height(size_t commitment) const;
  // All of them in transcript order, those of 0 bits included.
  std::vector<WhirGrind> Grinds() const;
  // Nonces that a prover tries on average: 2^bits for each proof of work done, a fold's once for each of its
  // rounds.
  double ExpectedNonces() const;
};

// Why parameters are refused.
struct WhirRefusal {
  std::string reason{};
  std::string grind{};    // the first with the most bits, if one is over budget
  uint32_t bits = 0;      // of `grind`
  bool has_fits = false;  // whether `fits` says anything
  uint32_t fits = 0;      // the largest smaller security level that is accepted; 0: none
};

// Derives everything. `refusal`, if not null, gets the details of an error.
//   INVALID_ARGUMENT  the profile does not offer these parameters; the message says which and why.
absl::StatusOr<WhirConfig> DeriveWhirConfig(const WhirParameters& parameters, WhirRefusal* refusal = nullptr);

// The field elements, canonical, that are observed before anything else.
std::vector<uint32_t> WhirDomainSeparator(const WhirConfig& config);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_PARAMETERS_H_
