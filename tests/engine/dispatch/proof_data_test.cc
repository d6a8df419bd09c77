#include "engine/dispatch/proof_data.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/fakes.h"
#include "tests/engine/whir/cases.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;

Circuit WhirCircuit() {
  Circuit circuit;
  circuit.id = "poly";
  circuit.system = ProofSystem::kWhir;
  WhirParameters p = SmallStrict();
  p.num_claims = 2;
  circuit.whir = std::make_shared<const WhirConfig>(*DeriveWhirConfig(p));
  return circuit;
}

WhirInput InputFor(const Circuit& circuit) {
  const WhirParameters& p = circuit.whir->parameters;
  WhirInput input{.polynomial = SecretBuffer<BabyBear>(size_t{1} << p.num_variables), .claims = {}};
  for (BabyBear& x : input.polynomial) x = BabyBear::One();
  for (uint32_t i = 0; i < p.num_claims; ++i) {
    input.claims.push_back({WhirElements(size_t{p.num_variables} * p.extension_degree, BabyBear::One()), {}});
  }
  return input;
}

std::string ContentOf(const ProofInput& input) {
  std::string out;
  for (const absl::Span<const uint8_t> piece : InputContent(input)) out.append(piece.begin(), piece.end());
  return out;
}

TEST(ProofDataTest, TakesAWhirInputWithAndWithoutValues) {
  const Circuit circuit = WhirCircuit();
  WhirInput input = InputFor(circuit);
  EXPECT_TRUE(CheckInput(circuit, InputFor(circuit)).ok());
  input.claims[1].value.assign(5, BabyBear::Zero());
  EXPECT_TRUE(CheckInput(circuit, std::move(input)).ok());
}

TEST(ProofDataTest, RefusesWhatDoesNotFitTheCircuit) {
  const Circuit circuit = WhirCircuit();
  const auto reason = [&](const auto& change) {
    WhirInput input = InputFor(circuit);
    change(input);
    return GetReason(CheckInput(circuit, std::move(input)));
  };
  EXPECT_EQ(reason([](WhirInput& in) { in.polynomial = SecretBuffer<BabyBear>(255); }),
            ErrorReason::kWitnessLength);
  EXPECT_EQ(reason([](WhirInput& in) { in.claims.pop_back(); }), ErrorReason::kRequestInvalid);
  EXPECT_EQ(reason([](WhirInput& in) { in.claims.push_back(in.claims[0]); }), ErrorReason::kRequestInvalid);
  EXPECT_EQ(reason([](WhirInput& in) { in.claims[0].point.pop_back(); }), ErrorReason::kRequestInvalid);
  EXPECT_EQ(reason([](WhirInput& in) { in.claims[0].value.resize(4); }), ErrorReason::kRequestInvalid);
  EXPECT_EQ(GetReason(CheckInput(circuit, ProofInput(FakeWitness()))), ErrorReason::kRequestInvalid);
  EXPECT_EQ(GetReason(CheckInput(*FakeCircuit(), InputFor(circuit))), ErrorReason::kRequestInvalid);
}

TEST(ProofDataTest, NoTwoInputsHaveTheSameContent) {
  const Circuit circuit = WhirCircuit();
  WhirInput first = InputFor(circuit), second = InputFor(circuit);
  EXPECT_EQ(ContentOf(InputFor(circuit)), ContentOf(InputFor(circuit)));
  // Without a mark for values both would be the same row of words.
  first.claims[0].value.assign(5, BabyBear::One());
  second.claims[1].value.assign(5, BabyBear::One());
  const ProofInput a = std::move(first), b = std::move(second);
  EXPECT_NE(ContentOf(a), ContentOf(b));
  EXPECT_EQ(InputBytes(a), ContentOf(a).size());
}

}  // namespace
}  // namespace proofmill::engine
