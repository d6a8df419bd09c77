// Proofs with fixed blinding against those of the oracle prover in tests/oracle, which shares no code.

#include <string>

#include "engine/formats/decimal.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using nlohmann::json;

Fr ScalarOf(const json& text) {
  const auto value = ParseDecimalBelow(text.get<std::string>(), Fr::kModulus);
  EXPECT_OK(value);
  return value.ok() ? Fr::FromPlain(*value) : Fr::Zero();
}

class GoldenProofsTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenProofsTest, AreOursByteForByte) {
  const std::string name = GetParam();
  const json golden = json::parse(ReadText("tests/vectors/golden/" + name + ".json"));
  const Bench bench = BenchOfCase(CasePath(name, ""));
  ASSERT_NE(bench.resident, nullptr);

  for (const bool with_tables : {false, true}) {
    if (with_tables) bench.key->MakeTables();
    for (const json& entry : golden.at("proofs")) {
      ProveOptions options;
      options.fixed_blinding = Blinding{ScalarOf(entry.at("r")), ScalarOf(entry.at("s"))};
      const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), options);
      ASSERT_OK(proof);
      EXPECT_EQ(json::parse(ProofToJson(*proof)), entry.at("proof")) << name << ", r = " << entry.at("r");
    }
  }
  EXPECT_EQ(json::parse(PublicToJson(PublicSignals(*bench.key, bench.span()))), golden.at("public"));
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenProofsTest,
                         testing::Values("big1", "mul3", "nopriv", "sj-mul3", "sj-outonly", "unused"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace proofmill::engine
