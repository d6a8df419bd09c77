// A WHIR circuit of the tests, with polynomials and claims of its own.

#ifndef PROOFMILL_TESTS_E2E_WHIR_CIRCUIT_H_
#define PROOFMILL_TESTS_E2E_WHIR_CIRCUIT_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/whir_messages.h"
#include "clients/cpp/input.h"
#include "engine/whir/files.h"
#include "engine/whir/parameters.h"
#include "engine/whir/prover.h"
#include "gtest/gtest.h"
#include "kernels/field/small_rng.h"

namespace proofmill::e2e {

// A polynomial with claims about it, as it is sent.
struct WhirRequest {
  std::string evaluations;                // canonical words, little-endian
  std::vector<engine::WhirClaim> claims;  // each with its value
  engine::WhirElements polynomial;

  // Without values the service has to compute them.
  client::Input Input(bool with_values = false) const {
    std::vector<v1::WhirClaim> sent;
    for (const engine::WhirClaim& claim : claims) {
      sent.push_back(cli::ToMessage(claim));
      if (!with_values) sent.back().clear_value();
    }
    return client::Input::Whir(evaluations, std::move(sent));
  }
};

class WhirCircuit {
 public:
  // Writes ID.whir.json into `folder`.
  WhirCircuit(const std::string& folder, std::string id, const std::string& parameters)
      : id_(std::move(id)), json_(parameters) {
    std::ofstream(folder + "/" + id_ + ".whir.json") << parameters;
    config_ = engine::DeriveWhirConfig(engine::ParseWhirParameters(parameters).value()).value();
  }

  const std::string& id() const { return id_; }
  const std::string& json() const { return json_; }
  const engine::WhirConfig& config() const { return config_; }

  WhirRequest Request(uint64_t seed) const {
    const engine::WhirParameters& p = config_.parameters;
    kernels::SmallRng random(seed);
    WhirRequest out;
    const auto draw = [&](size_t count) {
      engine::WhirElements words(count);
      for (kernels::BabyBear& x : words) x = random.NextBabyBear();
      return words;
    };
    out.polynomial = draw(size_t{1} << p.num_variables);
    for (const kernels::BabyBear x : out.polynomial) {
      const uint32_t word = x.ToCanonical();
      out.evaluations.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    for (uint32_t i = 0; i < p.num_claims; ++i) {
      engine::WhirClaim& claim = out.claims.emplace_back();
      claim.point = draw(size_t{p.num_variables} * p.extension_degree);
      claim.value = engine::EvaluateWhir(out.polynomial, claim.point, p.extension_degree);
    }
    return out;
  }

  // Whether `result` shows the claims of `request`.
  ::testing::AssertionResult IsProofOf(const v1::ProofResult& result, const WhirRequest& request) const {
    if (result.circuit() != id_) return ::testing::AssertionFailure() << "a proof of " << result.circuit();
    const auto checked = cli::CheckWhirResult(config_, request.claims, result.whir());
    if (!checked.ok()) return ::testing::AssertionFailure() << checked.status();
    return ::testing::AssertionSuccess();
  }

 private:
  const std::string id_;
  const std::string json_;
  engine::WhirConfig config_;
};

// Small, quick, and as safe as that allows: two rounds and proof of work.
inline constexpr char kSmallWhir[] =
    R"({"num_variables": 10, "folding": {"constant": 2}, "security_level": 30, "max_pow_bits": 6, "num_claims": 2})";

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_WHIR_CIRCUIT_H_
