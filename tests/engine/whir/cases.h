// Statements and proofs for tests of WHIR.

#ifndef PROOFMILL_TESTS_ENGINE_WHIR_CASES_H_
#define PROOFMILL_TESTS_ENGINE_WHIR_CASES_H_

#include <utility>
#include <vector>

#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "engine/whir/prover.h"
#include "gtest/gtest.h"
#include "kernels/field/small_rng.h"

namespace proofmill::engine {

// A polynomial, true claims about it, and the proof.
struct WhirCase {
  WhirConfig config;
  WhirElements polynomial;
  std::vector<WhirClaim> claims;
  WhirProof proof;
};

inline WhirElements RandomElements(kernels::SmallRng& rng, size_t n) {
  WhirElements out(n);
  for (kernels::BabyBear& x : out) x = rng.NextBabyBear();
  return out;
}

inline WhirCase MakeWhirCase(const WhirParameters& parameters, uint64_t seed = 7) {
  WhirCase out;
  const auto config = DeriveWhirConfig(parameters);
  EXPECT_TRUE(config.ok()) << config.status();
  out.config = *config;
  kernels::SmallRng rng(seed);
  const WhirProver prover(out.config);
  out.polynomial = RandomElements(rng, size_t{1} << parameters.num_variables);
  for (uint32_t i = 0; i < parameters.num_claims; ++i) {
    WhirElements point = RandomElements(rng, parameters.num_variables * parameters.extension_degree);
    WhirElements value = prover.Evaluate(out.polynomial, point);
    out.claims.push_back({std::move(point), std::move(value)});
  }
  const auto proof = prover.Prove(out.polynomial, out.claims, {});
  EXPECT_TRUE(proof.ok()) << proof.status();
  out.proof = *proof;
  return out;
}

// Random parameters that are accepted, of polynomials of up to `variables_max` variables.
inline WhirParameters RandomWhirParameters(kernels::SmallRng& rng, uint32_t variables_max = 11) {
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(rng.NextU64() % n); };
  for (;;) {
    WhirParameters p;
    p.profile = below(2) == 0 ? WhirProfile::kPin : WhirProfile::kStrict;
    p.extension_degree = 4 + below(2);
    p.constants = below(2) == 0 ? kernels::Poseidon2Set::kGrainLfsr : kernels::Poseidon2Set::kSmallRngSeed1;
    p.num_variables = 1 + below(variables_max);
    p.folding = below(2) == 0 ? WhirFolding::Constant(1 + below(5))
                              : WhirFolding::FirstRest(1 + below(5), 1 + below(4));
    p.log_inv_rate = 1 + below(3);
    p.domain_reduction = 1 + below(p.folding.first);
    p.max_pow_bits = below(7);
    p.security_level = 12 + below(16);
    p.assumption = static_cast<WhirAssumption>(below(3));
    p.num_claims = below(4);
    const auto config = DeriveWhirConfig(p);
    if (config.ok() && config->ExpectedNonces() < 2000) return p;
  }
}

// Small and quick, with two rounds, proof of work in every place but the last fold, and extension rows of
// eight words.
inline WhirParameters TwoRounds() {
  WhirParameters p;
  p.profile = WhirProfile::kPin;
  p.extension_degree = 4;
  p.constants = kernels::Poseidon2Set::kSmallRngSeed1;
  p.num_variables = 9;
  p.folding = WhirFolding::Constant(1);
  p.log_inv_rate = 2;
  p.domain_reduction = 1;
  p.security_level = 32;
  p.max_pow_bits = 5;
  p.assumption = WhirAssumption::kJohnsonBound;
  p.num_claims = 2;
  return p;
}

inline WhirParameters SmallStrict() {
  WhirParameters p;
  p.num_variables = 8;
  p.folding = WhirFolding::Constant(2);
  p.log_inv_rate = 2;
  p.domain_reduction = 2;
  p.security_level = 30;
  p.max_pow_bits = 6;
  p.num_claims = 1;
  return p;
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_WHIR_CASES_H_
