#include "engine/groth16/verifier.h"

#include <vector>

#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/twist_points.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;

struct Statement {
  VerificationKey vk;
  std::vector<Fr> signals;
  Groth16Proof proof;
};

Statement Proved(const Bench& bench) {
  auto proof = Prove(*bench.backend, *bench.resident, bench.span());
  EXPECT_OK(proof);
  return {bench.key->vk(), PublicSignals(*bench.key, bench.span()), proof.ok() ? *proof : Groth16Proof{}};
}

class VerifierTest : public testing::Test {
 protected:
  VerifierTest() : statement_(Proved(BenchOfCase("tests/vectors/cases/sj-mul3"))) {}
  bool Accepts() {
    const auto result = Verify(statement_.vk, statement_.signals, statement_.proof);
    EXPECT_OK(result);
    const KeyTables tables(statement_.vk, kernels::kG1Generator);
    EXPECT_EQ(AcceptsInSteps(nullptr), result.ok() && *result) << "both ways must agree";
    EXPECT_EQ(AcceptsInSteps(&tables), result.ok() && *result) << "with tables too";
    return result.ok() && *result;
  }
  bool AcceptsInSteps(const KeyTables* tables) const {
    const PreparedPairings prepared(statement_.vk);
    StagedVerification verification(statement_.vk, prepared, tables);
    verification.SetAB(statement_.proof.a, statement_.proof.b);
    verification.SetPublicSignals(statement_.signals);
    verification.SetC(statement_.proof.c);
    return verification.Accepts();
  }
  Statement statement_;
};

TEST_F(VerifierTest, AcceptsAProofOfTheStatement) { EXPECT_TRUE(Accepts()); }

TEST_F(VerifierTest, RefusesAnotherStatement) {
  statement_.signals[1] += Fr::One();
  EXPECT_FALSE(Accepts());
}

TEST_F(VerifierTest, RefusesEachPointReplacedByAnother) {
  const Groth16Proof good = statement_.proof;
  statement_.proof.a = -good.a;
  EXPECT_FALSE(Accepts());
  statement_.proof = good;
  statement_.proof.b = -good.b;
  EXPECT_FALSE(Accepts());
  statement_.proof = good;
  statement_.proof.c = kernels::kG1Generator;
  EXPECT_FALSE(Accepts());
}

TEST_F(VerifierTest, RefusesPointsThatAreNotOnTheCurve) {
  const Groth16Proof good = statement_.proof;
  statement_.proof.a.y += Fq::One();
  EXPECT_FALSE(Accepts());
  statement_.proof = good;
  statement_.proof.b.y += Fq2::One();
  EXPECT_FALSE(Accepts());
  statement_.proof = good;
  statement_.proof.c.x += Fq::One();
  EXPECT_FALSE(Accepts());
}

// The pairing of snarkjs alone would let it through in part: the subgroup is checked apart.
TEST_F(VerifierTest, RefusesBOutsideTheSubgroup) {
  statement_.proof.b = (G2Xyzz::FromAffine(statement_.proof.b) + PointOfOrder10069()).ToAffine();
  EXPECT_FALSE(Accepts());
}

TEST_F(VerifierTest, RefusesAProofOfNothingButInfinities) {
  statement_.proof = {};
  EXPECT_FALSE(Accepts());
}

// Documented: proofs are no identities.
TEST_F(VerifierTest, AcceptsTheOtherSignOfAAndB) {
  statement_.proof.a = -statement_.proof.a;
  statement_.proof.b = -statement_.proof.b;
  EXPECT_TRUE(Accepts());
}

TEST_F(VerifierTest, AcceptsAAndBScaledAgainstEachOther) {
  const Fr t = Fr::FromUint64(12345);
  const Groth16Proof good = statement_.proof;
  statement_.proof.a = ScalarMulVartime(G1Xyzz::FromAffine(good.a), t.ToPlain()).ToAffine();
  EXPECT_FALSE(Accepts()) << "A alone";
  statement_.proof.b = ScalarMulVartime(G2Xyzz::FromAffine(good.b), t.Inverse().ToPlain()).ToAffine();
  EXPECT_TRUE(Accepts());
}

TEST_F(VerifierTest, AnotherNumberOfSignalsIsAnErrorThatNamesBoth) {
  std::vector<Fr> signals = statement_.signals;
  signals.push_back(Fr::Zero());
  const auto more = Verify(statement_.vk, signals, statement_.proof);
  ExpectError(more, absl::StatusCode::kInvalidArgument,
              "expected 2 of them, as the verification key says, got 3");
  EXPECT_EQ(GetReason(more.status()), ErrorReason::kPublicSignalsMalformed);
  ExpectError(Verify(statement_.vk, {}, statement_.proof), absl::StatusCode::kInvalidArgument, "got 0");
}

TEST(VerifierInfinityTest, AProofWithInfinityInCIsAcceptedWhenTheEquationHolds) {
  const Bench bench = BenchOf(OnlyTheConstantWire());
  ProveOptions options;
  options.fixed_blinding = Blinding{Fr::Zero(), Fr::Zero()};

  const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), options);

  ASSERT_OK(proof);
  EXPECT_TRUE(proof->c.IsInfinity());
}

TEST(VerifierManySignalsTest, ManyPublicSignalsAreSummedUpRight) {
  TestCircuit circuit{"many", 41, 40, {}, {Fr::One()}};
  for (int64_t i = 1; i <= 40; ++i) circuit.witness.push_back(FieldElement(-i));
  Statement statement = Proved(BenchOf(circuit));

  EXPECT_TRUE(*Verify(statement.vk, statement.signals, statement.proof));
  statement.signals[39] += Fr::One();
  EXPECT_FALSE(*Verify(statement.vk, statement.signals, statement.proof));
}

class CheckVerificationKeyTest : public testing::Test {
 protected:
  VerificationKey vk_ = BenchOfCase("tests/vectors/cases/mul3").key->vk();
  void ExpectBad(const std::string& part) {
    ExpectError(CheckVerificationKey(vk_), absl::StatusCode::kInvalidArgument, part);
  }
};

TEST_F(CheckVerificationKeyTest, AcceptsAGoodKey) { EXPECT_OK(CheckVerificationKey(vk_)); }

TEST_F(CheckVerificationKeyTest, NamesAnInfinity) {
  vk_.gamma2 = G2Affine::Infinity();
  ExpectBad("gamma2: expected a point other than infinity");
}

TEST_F(CheckVerificationKeyTest, NamesAPointOffTheCurve) {
  vk_.ic[1].y += Fq::One();
  ExpectBad("IC[1]: expected a point of the curve");
}

TEST_F(CheckVerificationKeyTest, NamesACoordinateThatIsTooLarge) {
  vk_.alpha1.x = Fq::FromMontgomery(Fq::kModulus);
  ExpectBad("alpha1: expected coordinates below q");
  vk_ = BenchOfCase("tests/vectors/cases/mul3").key->vk();
  vk_.beta2.x.c1 = Fq::FromMontgomery(Fq::kModulus);
  ExpectBad("beta2: expected coordinates below q");
}

TEST_F(CheckVerificationKeyTest, NamesAPointOutsideTheSubgroup) {
  vk_.delta2 = PointOfOrder10069TimesR();
  ExpectBad("delta2: expected a point of order r");
}

TEST_F(CheckVerificationKeyTest, WantsAtLeastOneIcPoint) {
  vk_.ic.clear();
  ExpectBad("IC: expected at least one point, got none");
}

}  // namespace
}  // namespace proofmill::engine
