// Malformed and forged proofs: for each length, kind and field that whir-p3's verifier took from the proof,
// one that only that check stands against.

#include <functional>
#include <string>

#include "engine/whir/statement.h"
#include "engine/whir/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/whir/cases.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using testing::HasSubstr;

class WhirForgeryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { case_ = new WhirCase(MakeWhirCase(TwoRounds())); }
  static void TearDownTestSuite() { delete case_; }

  // Where the proof is rejected once it is changed.
  static std::string RejectedAt(const std::function<void(WhirProof&)>& change) {
    WhirProof proof = case_->proof;
    change(proof);
    const WhirVerdict verdict = VerifyWhir(case_->config, case_->claims, proof);
    EXPECT_FALSE(verdict.valid);
    return verdict.rejected_at;
  }
  static void RepeatElement(WhirElements& list) { list.insert(list.end(), list.end() - 4, list.end()); }
  static void DropElement(WhirElements& list) { list.resize(list.size() - 4); }

  static WhirCase* case_;
};
WhirCase* WhirForgeryTest::case_ = nullptr;

TEST_F(WhirForgeryTest, TheHonestProofIsAccepted) {
  ASSERT_EQ(case_->config.rounds.size(), 2u);
  ASSERT_GT(case_->config.ood_samples, 0u);
  EXPECT_TRUE(VerifyWhir(case_->config, case_->claims, case_->proof).valid);
}

TEST_F(WhirForgeryTest, TheNumberOfSumcheckRoundsIsNotTakenFromTheProof) {
  const auto check = [](const std::function<WhirSumcheck&(WhirProof&)>& of, const char* where) {
    for (const bool longer : {true, false}) {
      EXPECT_EQ(RejectedAt([&](WhirProof& proof) {
                  WhirSumcheck& sumcheck = of(proof);
                  for (int i = 0; i < 2; ++i) {
                    longer ? RepeatElement(sumcheck.evaluations) : DropElement(sumcheck.evaluations);
                  }
                }),
                std::string(where) + ": number of rounds");
    }
  };
  check([](WhirProof& proof) -> WhirSumcheck& { return proof.sumcheck; }, "initial fold");
  check([](WhirProof& proof) -> WhirSumcheck& { return proof.rounds[1].sumcheck; }, "round 1 fold");
  check([](WhirProof& proof) -> WhirSumcheck& { return *proof.final_sumcheck; }, "final fold");
}

TEST_F(WhirForgeryTest, TheNumberOfNoncesIsNotTakenFromTheProof) {
  const auto push = [](WhirSumcheck& sumcheck) { sumcheck.nonces.push_back(BabyBear::Zero()); };
  EXPECT_EQ(RejectedAt([&](WhirProof& proof) { push(proof.sumcheck); }), "initial fold: number of nonces");
  EXPECT_EQ(RejectedAt([&](WhirProof& proof) { push(proof.rounds[0].sumcheck); }),
            "round 0 fold: number of nonces");
  EXPECT_EQ(RejectedAt([&](WhirProof& proof) { push(*proof.final_sumcheck); }),
            "final fold: number of nonces");
}

TEST_F(WhirForgeryTest, TheNumberOfOodAnswersIsNotTakenFromTheProof) {
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { RepeatElement(proof.ood_answers); }),
            "initial: number of OOD answers");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { DropElement(proof.ood_answers); }),
            "initial: number of OOD answers");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { DropElement(proof.rounds[1].ood_answers); }),
            "round 1: number of OOD answers");
}

TEST_F(WhirForgeryTest, TheNumberOfOpeningsIsThatOfTheIndices) {
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds[0].openings.pop_back(); }),
            "round 0: number of openings");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds[1].openings.clear(); }),
            "round 1: number of openings");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.final_openings.push_back(proof.final_openings.back()); }),
            "final: number of openings");
}

TEST_F(WhirForgeryTest, TheLengthOfTheFinalPolynomialIsNotTakenFromTheProof) {
  EXPECT_EQ(
      RejectedAt([](WhirProof& proof) { proof.final_polynomial.resize(2 * proof.final_polynomial.size()); }),
      "final polynomial: length");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.final_polynomial.clear(); }), "final polynomial: length");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.final_polynomial.pop_back(); }),
            "final polynomial: length");
}

TEST_F(WhirForgeryTest, TheKindOfARowIsNotTakenFromTheProof) {
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds[0].openings[0].extension = true; }),
            "round 0: row shape");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds[1].openings[0].extension = false; }),
            "round 1: row shape");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.final_openings[0].extension = false; }),
            "final: row shape");
}

// The sponge has no padding: a row with a zero more hashes to the same digest while it stays within a block.
TEST_F(WhirForgeryTest, TheWidthOfARowIsNotTakenFromTheProof) {
  const auto& constants = kernels::Poseidon2Width16(kernels::Poseidon2Set::kSmallRngSeed1);
  const WhirElements& row = case_->proof.rounds[0].openings[0].row;
  WhirElements padded = row;
  padded.push_back(BabyBear::Zero());
  ASSERT_EQ(kernels::HashWords(constants, row.data(), row.size()),
            kernels::HashWords(constants, padded.data(), padded.size()));

  EXPECT_EQ(RejectedAt([&](WhirProof& proof) { proof.rounds[0].openings[0].row = padded; }),
            "round 0: row shape");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds[1].openings[0].row.clear(); }),
            "round 1: row shape");
}

// A row of eight words hashes as the node over it and the zero digest, so a committed row can pass for an
// inner node.
TEST_F(WhirForgeryTest, TheLengthOfAPathIsNotTakenFromTheProof) {
  const auto& constants = kernels::Poseidon2Width16(kernels::Poseidon2Set::kSmallRngSeed1);
  const WhirElements& row = case_->proof.rounds[1].openings[0].row;
  ASSERT_EQ(row.size(), 8u);
  kernels::Digest as_digest;
  std::copy(row.begin(), row.end(), as_digest.begin());
  ASSERT_EQ(kernels::HashWords(constants, row.data(), 8), kernels::HashNode(constants, as_digest, {}));

  EXPECT_EQ(RejectedAt([](WhirProof& proof) {
              std::vector<kernels::Digest>& path = proof.rounds[1].openings[0].path;
              path.insert(path.begin(), kernels::Digest{});
            }),
            "round 1: Merkle path");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds[0].openings[0].path.pop_back(); }),
            "round 0: Merkle path");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.final_openings[0].path.clear(); }), "final: Merkle path");
}

TEST_F(WhirForgeryTest, ANonceWhereThereIsNoWorkMustBeZero) {
  WhirParameters p = TwoRounds();
  p.max_pow_bits = 0;
  WhirCase made = MakeWhirCase(p);
  ASSERT_EQ(made.config.rounds[0].pow_bits, 0u);
  ASSERT_TRUE(VerifyWhir(made.config, made.claims, made.proof).valid);

  made.proof.rounds[0].pow_witness = BabyBear::One();
  EXPECT_EQ(VerifyWhir(made.config, made.claims, made.proof).rejected_at, "round 0: proof of work");
  made.proof.rounds[0].pow_witness = BabyBear::Zero();
  made.proof.final_pow_witness = BabyBear::One();
  EXPECT_EQ(VerifyWhir(made.config, made.claims, made.proof).rejected_at, "final: proof of work");
}

TEST_F(WhirForgeryTest, AWrongNonceIsRejected) {
  ASSERT_GT(case_->config.rounds[0].pow_bits, 0u);
  // The smallest nonce that passes is in the proof, so the one below it does not.
  const auto below = [](BabyBear& nonce) { nonce -= BabyBear::One(); };
  if (!case_->proof.rounds[0].pow_witness.IsZero()) {
    EXPECT_EQ(RejectedAt([&](WhirProof& proof) { below(proof.rounds[0].pow_witness); }),
              "round 0: proof of work");
  }
  if (!case_->proof.final_pow_witness.IsZero()) {
    EXPECT_EQ(RejectedAt([&](WhirProof& proof) { below(proof.final_pow_witness); }), "final: proof of work");
  }
}

TEST_F(WhirForgeryTest, RoundsAndTheFinalFoldMustBeThere) {
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds.pop_back(); }), "number of rounds");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.rounds.push_back(proof.rounds[0]); }),
            "number of rounds");
  EXPECT_EQ(RejectedAt([](WhirProof& proof) { proof.final_sumcheck.reset(); }), "final fold: presence");
  EXPECT_FALSE(VerifyWhir(case_->config, case_->claims, WhirProof()).valid);
}

TEST_F(WhirForgeryTest, AnyChangedWordIsRejected) {
  const auto each = [](const std::function<BabyBear&(WhirProof&)>& word) {
    RejectedAt([&](WhirProof& proof) { word(proof) += BabyBear::One(); });
  };
  each([](WhirProof& proof) -> BabyBear& { return proof.commitment[7]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.ood_answers[0]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.sumcheck.evaluations[5]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.rounds[0].commitment[0]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.rounds[1].ood_answers[3]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.rounds[0].openings[1].row[0]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.rounds[1].openings[0].path[2][4]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.rounds[1].sumcheck.evaluations[0]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.final_polynomial.back(); });
  each([](WhirProof& proof) -> BabyBear& { return proof.final_openings[0].row[1]; });
  each([](WhirProof& proof) -> BabyBear& { return proof.final_sumcheck->evaluations[0]; });
}

TEST_F(WhirForgeryTest, OtherClaimsAreRejected) {
  std::vector<WhirClaim> claims = case_->claims;
  std::swap(claims[0], claims[1]);
  EXPECT_FALSE(VerifyWhir(case_->config, claims, case_->proof).valid);
  claims = {case_->claims[0]};
  EXPECT_FALSE(VerifyWhir(case_->config, claims, case_->proof).valid);
  claims = case_->claims;
  claims[1].point.pop_back();
  EXPECT_THAT(VerifyWhir(case_->config, claims, case_->proof).rejected_at, HasSubstr("claim 1"));
}

// In the pin a claim changes no challenge; in strict all of them depend on every claim and parameter.
TEST(WhirBindingTest, StrictBindsClaimsAndParametersIntoTheTranscript) {
  const auto first_sample = [](WhirParameters p, const std::vector<WhirClaim>& claims) {
    const auto config = DeriveWhirConfig(p);
    EXPECT_TRUE(config.ok());
    return BeginWhirTranscript(*config, claims).Sample();
  };
  const auto claims_of = [](const WhirParameters& p, uint64_t seed) {
    kernels::SmallRng rng(seed);
    return std::vector<WhirClaim>{
        {RandomElements(rng, p.num_variables * p.extension_degree), RandomElements(rng, p.extension_degree)}};
  };
  const WhirParameters strict = SmallStrict();
  EXPECT_NE(first_sample(strict, claims_of(strict, 1)), first_sample(strict, claims_of(strict, 2)));
  WhirParameters other = strict;
  other.constants = kernels::Poseidon2Set::kSmallRngSeed1;
  EXPECT_NE(first_sample(strict, claims_of(strict, 1)), first_sample(other, claims_of(strict, 1)));
  other = strict;
  other.domain_reduction = 1;
  EXPECT_NE(first_sample(strict, claims_of(strict, 1)), first_sample(other, claims_of(strict, 1)));

  WhirParameters pin = TwoRounds();
  EXPECT_EQ(first_sample(pin, claims_of(pin, 1)), first_sample(pin, claims_of(pin, 2)));
}

TEST(WhirBindingTest, StrictWantsTheNumberOfClaimsOfItsParameters) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  const std::vector<WhirClaim> twice = {made.claims[0], made.claims[0]};
  EXPECT_THAT(VerifyWhir(made.config, twice, made.proof).rejected_at, HasSubstr("claims: expected 1, got 2"));
}

}  // namespace
}  // namespace proofmill::engine
