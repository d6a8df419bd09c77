// Known answers: upstream's proofs are accepted and made again, and so are those of the strict profile.

#include "engine/whir/vector_check.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/kernels/whir_vectors.h"

namespace proofmill::engine {
namespace {

using kernels::ReadWhirVectorText;
using kernels::WhirVectorFiles;

// Larger runs are left to `proofmill whir check-vector`: they take seconds, and minutes under a sanitizer.
const WhirVectorOptions kOptions = {.prove_variables_max = 12, .prove_nonces_max = 120000};

void ExpectAgreement(const std::string& prefix) {
  const auto files = WhirVectorFiles(prefix);
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    const auto result = CheckWhirVector(ReadWhirVectorText(file), kOptions);
    ASSERT_TRUE(result.ok()) << file << ": " << result.status();
    EXPECT_TRUE(result->agrees) << file << ": " << result->detail;
  }
}

TEST(WhirVectorsTest, ProofsOfThePinVerifyAndAreMadeAgain) { ExpectAgreement("proof_"); }
TEST(WhirVectorsTest, RunsOfThePinsBenchmarkAreMadeAgain) { ExpectAgreement("compact_n12"); }
TEST(WhirVectorsTest, StrictProofsVerifyAndAreMadeAgain) { ExpectAgreement("strict_proof_"); }

TEST(WhirVectorsTest, ParametersAreThoseOfTheVectorsRefusalsIncluded) {
  for (const char* const name : {"params.json", "strict_params.json"}) {
    const auto path = kernels::WhirVectorFolder() / name;
    if (!std::filesystem::exists(path)) continue;  // too large for the tree
    const auto result = CheckWhirVector(ReadWhirVectorText(path), kOptions);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(result->agrees) << result->detail;
  }
}

TEST(WhirVectorsTest, ADifferenceIsFoundAndNamed) {
  auto file = kernels::ReadWhirVector("proof_n4_f2_r1_red1_sec32_pow0_CapacityBound_pts1.json");
  file["proof"]["final_poly"][0][0] = 1;
  const auto altered = CheckWhirVector(file.dump(), kOptions);
  ASSERT_TRUE(altered.ok());
  EXPECT_FALSE(altered->agrees);
  EXPECT_NE(altered->detail.find("rejected"), std::string::npos) << altered->detail;

  file = kernels::ReadWhirVector("compact_n12_f4_r1.json");
  file["rounds"][0]["openings_digest"][3] = 5;
  const auto run = CheckWhirVector(file.dump(), kOptions);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->detail, "differs: round 0: openings");
}

TEST(WhirVectorsTest, WhatIsNoVectorIsAnError) {
  for (const char* const text :
       {"", "{}", "[1]", "{\"proof\": 1, \"config\": {}}", "{\"proof_hex\": \"0\"}", "7"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckWhirVector(text, kOptions).status())) << text;
  }
  auto file = kernels::ReadWhirVector("strict_proof_n6_f2_r1_s2_ext5_lam28_pow5_JB_claims1.json");
  file["altered_proofs"][0]["patch"][0][0] = 1 << 30;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckWhirVector(file.dump(), kOptions).status()));
}

}  // namespace
}  // namespace proofmill::engine
