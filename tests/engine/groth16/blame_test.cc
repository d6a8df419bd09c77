#include "engine/groth16/blame.h"

#include <functional>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/faulty_backend.h"

namespace proofmill::engine {
namespace {

using kernels::U256;
using Fault = FaultyBackend::Fault;

// A circuit of six squarings on a backend whose faults the test chooses.
class BlameTest : public testing::Test {
 protected:
  BlameTest() : bench_(BenchOf(circuit_)), backend_([this](int proof) { return fault_(proof); }) {
    auto resident = backend_.LoadKey(bench_.key);
    EXPECT_OK(resident);
    resident_ = *std::move(resident);
    broken_ = bench_.witness;
    broken_[5].limb[0] ^= 1;  // the output of constraint 3 and the input of constraint 4
  }

  Verdict Judge(const Evidence& evidence) {
    auto verdict = FindBlame(backend_, *resident_, evidence);
    EXPECT_OK(verdict);
    return verdict.ok() ? *verdict : Verdict{};
  }

  const TestCircuit circuit_ = Squarings(6);
  const R1cs r1cs_ = circuit_.ToR1cs();
  Bench bench_;
  std::function<Fault(int)> fault_ = [](int) { return Fault::kNone; };
  FaultyBackend backend_;
  std::unique_ptr<ResidentKey> resident_;
  std::vector<U256> broken_;
};

TEST_F(BlameTest, TheFailureThatItIsAskedAbout) {
  EXPECT_EQ(GetReason(Prove(backend_, *resident_, broken_).status()), ErrorReason::kSelfCheckFailed);
}

TEST_F(BlameTest, AGoodCanaryBlamesTheWitness) {
  const Verdict verdict = Judge({.witness = broken_, .canary = bench_.witness});
  EXPECT_EQ(verdict.blame, Blame::kWitness);
  EXPECT_FALSE(verdict.failing_constraint.has_value());
  EXPECT_EQ(verdict.canary_proved, true);
  EXPECT_EQ(backend_.proofs(), 1);
}

TEST_F(BlameTest, ABadCanaryBlamesTheDevice) {
  fault_ = [](int) { return Fault::kWrongSum; };
  const Verdict verdict = Judge({.witness = broken_, .canary = bench_.witness});
  EXPECT_EQ(verdict.blame, Blame::kDevice);
  EXPECT_EQ(verdict.canary_proved, false);
}

TEST_F(BlameTest, ADeviceThatFailsOutrightIsToBlame) {
  fault_ = [](int) { return Fault::kError; };
  EXPECT_EQ(Judge({.witness = broken_, .canary = bench_.witness}).blame, Blame::kDevice);
  EXPECT_EQ(Judge({.witness = broken_}).blame, Blame::kDevice);
}

TEST_F(BlameTest, WithTheConstraintSystemTheFirstFailingConstraintIsNamed) {
  const Verdict by_system = Judge({.witness = broken_, .r1cs = &r1cs_});
  EXPECT_EQ(by_system.blame, Blame::kWitness);
  EXPECT_EQ(by_system.failing_constraint, 3u);
  EXPECT_FALSE(by_system.canary_proved.has_value());
  EXPECT_EQ(backend_.proofs(), 0) << "no proof is needed";
  EXPECT_EQ(Judge({.witness = broken_, .canary = bench_.witness, .r1cs = &r1cs_}).failing_constraint, 3u);
}

TEST_F(BlameTest, AWitnessThatSatisfiesTheSystemBlamesTheDevice) {
  EXPECT_EQ(Judge({.witness = bench_.witness, .r1cs = &r1cs_}).blame, Blame::kDevice);
}

TEST_F(BlameTest, WithNeitherASecondFailureBlamesTheWitness) {
  const Verdict verdict = Judge({.witness = broken_});
  EXPECT_EQ(verdict.blame, Blame::kWitness);
  EXPECT_EQ(backend_.proofs(), 1);
}

TEST_F(BlameTest, WithNeitherASuccessAtTheSecondTryBlamesTheDevice) {
  EXPECT_EQ(Judge({.witness = bench_.witness}).blame, Blame::kDevice);
}

TEST_F(BlameTest, ACanaryOfAnotherCircuitCountsAsNone) {
  const std::vector<U256> other(3, U256{{1, 0, 0, 0}});
  EXPECT_EQ(Judge({.witness = bench_.witness, .canary = other}).blame, Blame::kDevice);
  EXPECT_EQ(backend_.proofs(), 1) << "the witness itself, once more";
}

TEST_F(BlameTest, ASystemOfAnotherCircuitSaysNothing) {
  const R1cs other = DomainTwo().ToR1cs();
  const Verdict verdict = Judge({.witness = broken_, .r1cs = &other});
  EXPECT_EQ(verdict.blame, Blame::kWitness);
  EXPECT_FALSE(verdict.failing_constraint.has_value());
}

TEST_F(BlameTest, NobodyWaitsForTheVerdictOfACancelledJob) {
  CancellationToken token;
  token.Cancel();
  EXPECT_TRUE(absl::IsCancelled(
      FindBlame(backend_, *resident_, {.witness = broken_, .canary = bench_.witness, .cancel = &token})
          .status()));
  EXPECT_TRUE(
      absl::IsCancelled(FindBlame(backend_, *resident_, {.witness = broken_, .cancel = &token}).status()));
}

TEST(BlameStatusTest, TheClientIsToldTheFailingConstraint) {
  const absl::Status named = ToStatus({Blame::kWitness, 17, "because"});
  ExpectError(named, absl::StatusCode::kInvalidArgument,
              "witness does not satisfy the circuit: constraint 17 of the .r1cs");
  EXPECT_EQ(GetReason(named), ErrorReason::kWitnessUnsatisfied);
  EXPECT_EQ(ToStatus({Blame::kWitness, std::nullopt, "because"}).message(),
            "witness does not satisfy the circuit");
}

TEST(BlameStatusTest, ABadDeviceIsAnInternalError) {
  const absl::Status status = ToStatus({Blame::kDevice, std::nullopt, "the canary failed"});
  ExpectError(status, absl::StatusCode::kInternal, "the canary failed");
  EXPECT_EQ(GetReason(status), ErrorReason::kSelfCheckFailed);
}

TEST(FirstFailingConstraintTest, SatisfiedSystemsHaveNone) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    const auto failing = FirstFailingConstraint(circuit.ToR1cs(), circuit.PlainWitness());
    ASSERT_OK(failing);
    EXPECT_FALSE(failing->has_value()) << circuit.name;
  }
}

TEST(FirstFailingConstraintTest, TheLowestOneIsFoundInALongSystem) {
  TestCircuit circuit{"long", 2, 1, {}, {kernels::Fr::One(), FieldElement(7)}};
  circuit.constraints.assign(5000, {{{0, 1}}, {{1, 1}}, {{1, 1}}});
  for (size_t place : {4999u, 2048u, 1023u, 0u}) {
    circuit.constraints[place].c[0].factor = 2;
    const auto failing = FirstFailingConstraint(circuit.ToR1cs(), circuit.PlainWitness());
    ASSERT_OK(failing);
    EXPECT_EQ(*failing, place);
  }
}

TEST(FirstFailingConstraintTest, WitnessesThatDoNotFitAreErrors) {
  const R1cs r1cs = Squarings(1).ToR1cs();
  std::vector<U256> witness = Squarings(1).PlainWitness();
  witness[2] = kernels::Fr::kModulus;
  ExpectError(FirstFailingConstraint(r1cs, witness), absl::StatusCode::kInvalidArgument, "below r");
  witness.pop_back();
  ExpectError(FirstFailingConstraint(r1cs, witness), absl::StatusCode::kInvalidArgument, "expected 3 values");
}

}  // namespace
}  // namespace proofmill::engine
