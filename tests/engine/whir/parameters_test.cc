#include "engine/whir/parameters.h"

#include "engine/whir/proof_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/whir/cases.h"

namespace proofmill::engine {
namespace {

using testing::HasSubstr;

std::string RefusalOf(const WhirParameters& p) {
  const auto config = DeriveWhirConfig(p);
  EXPECT_TRUE(absl::IsInvalidArgument(config.status()));
  return std::string(config.status().message());
}

WhirParameters Default(uint32_t n, uint32_t fold, uint32_t rate) {
  WhirParameters p;
  p.num_variables = n;
  p.folding = WhirFolding::Constant(fold);
  p.log_inv_rate = rate;
  p.domain_reduction = std::min(fold, 3u);
  return p;
}

TEST(WhirParametersTest, DerivesTheSizesOfTheSpecification) {
  const auto r1 = DeriveWhirConfig(Default(20, 4, 1)), r2 = DeriveWhirConfig(Default(20, 4, 2));
  ASSERT_TRUE(r1.ok() && r2.ok());
  EXPECT_EQ(WhirProofBytesMax(*r1), 231672u);
  EXPECT_EQ(WhirProofBytesMax(*r2), 143064u);
  EXPECT_EQ(r2->rounds[0].queries, 91u);
  EXPECT_EQ(r2->final_queries, 19u);
}

TEST(WhirParametersTest, RefusesEachParameterOutOfItsRange) {
  const auto with = [](const std::function<void(WhirParameters&)>& change) {
    WhirParameters p = Default(12, 3, 2);
    change(p);
    return RefusalOf(p);
  };
  EXPECT_THAT(with([](auto& p) { p.extension_degree = 3; }), HasSubstr("extension_degree"));
  EXPECT_THAT(with([](auto& p) { p.constants = kernels::Poseidon2Set{3}; }), HasSubstr("constants"));
  EXPECT_THAT(with([](auto& p) { p.num_variables = 0; }), HasSubstr("num_variables"));
  EXPECT_THAT(with([](auto& p) { p.num_variables = 31; }), HasSubstr("num_variables"));
  EXPECT_THAT(with([](auto& p) { p.folding = WhirFolding::Constant(0); }), HasSubstr("folding"));
  EXPECT_THAT(with([](auto& p) { p.folding = WhirFolding::Constant(9); }), HasSubstr("folding"));
  EXPECT_THAT(with([](auto& p) { p.folding.rest = 2; }), HasSubstr("folding"));
  EXPECT_THAT(with([](auto& p) { p.log_inv_rate = 9; }), HasSubstr("log_inv_rate"));
  EXPECT_THAT(with([](auto& p) { p.domain_reduction = 4; }), HasSubstr("domain_reduction"));
  EXPECT_THAT(with([](auto& p) { p.domain_reduction = 0; }), HasSubstr("domain_reduction"));
  EXPECT_THAT(with([](auto& p) { p.security_level = 121; }), HasSubstr("security_level"));
  EXPECT_THAT(with([](auto& p) { p.security_level = p.max_pow_bits; }), HasSubstr("security_level"));
  EXPECT_THAT(with([](auto& p) { p.max_pow_bits = 25; }), HasSubstr("max_pow_bits"));
  EXPECT_THAT(with([](auto& p) { p.num_claims = 65536; }), HasSubstr("num_claims"));
  EXPECT_THAT(with([](auto& p) { p.num_variables = 2; }), HasSubstr("more variables are folded"));
}

TEST(WhirParametersTest, RateZeroIsRefusedInBothProfiles) {
  WhirParameters p = Default(12, 3, 0);
  EXPECT_THAT(RefusalOf(p), HasSubstr("log_inv_rate"));
  p.profile = WhirProfile::kPin;
  EXPECT_THAT(RefusalOf(p), HasSubstr("log_inv_rate"));
}

TEST(WhirParametersTest, StrictRefusesTheCapacityBoundAsConjectural) {
  WhirParameters p = Default(12, 3, 1);
  p.assumption = WhirAssumption::kCapacityBound;
  EXPECT_THAT(RefusalOf(p), HasSubstr("conjectural"));
  p.profile = WhirProfile::kPin;
  EXPECT_TRUE(DeriveWhirConfig(p).ok());
}

TEST(WhirParametersTest, NoCommitmentIsHigherThanTheTwoAdicity) {
  EXPECT_THAT(RefusalOf(Default(28, 1, 1)), HasSubstr("two-adicity"));
  // A narrow fold after a wide one makes the second commitment the highest.
  WhirParameters p = Default(30, 8, 4);
  p.folding = WhirFolding::FirstRest(8, 1);
  p.domain_reduction = 1;
  p.profile = WhirProfile::kPin;
  EXPECT_THAT(RefusalOf(p), HasSubstr("commitment 1"));
}

TEST(WhirParametersTest, ProofOfWorkOverTheBudgetIsRefusedInStrictAndRoundedUp) {
  WhirParameters p = Default(24, 5, 6);
  WhirRefusal refusal;
  EXPECT_FALSE(DeriveWhirConfig(p, &refusal).ok());
  EXPECT_EQ(refusal.reason, "grind over budget");
  EXPECT_GT(refusal.bits, p.max_pow_bits);
  EXPECT_GE(refusal.fits, 93u);
  EXPECT_LT(refusal.fits, 100u);
  p.security_level = refusal.fits;
  EXPECT_TRUE(DeriveWhirConfig(p).ok());

  p = Default(20, 4, 1);
  const auto strict = DeriveWhirConfig(p);
  p.profile = WhirProfile::kPin;
  const auto pin = DeriveWhirConfig(p);
  ASSERT_TRUE(strict.ok() && pin.ok());
  EXPECT_EQ(strict->final_pow_bits, pin->final_pow_bits + 1) << "ceil against floor of the same fraction";
}

TEST(WhirParametersTest, TooManyClaimsAreRefused) {
  WhirParameters p = Default(20, 4, 2);
  p.extension_degree = 4;
  p.security_level = 110;
  p.max_pow_bits = 24;
  p.assumption = WhirAssumption::kUniqueDecoding;
  p.num_claims = 1;
  ASSERT_TRUE(DeriveWhirConfig(p).ok());
  p.num_claims = 65535;
  WhirRefusal refusal;
  EXPECT_FALSE(DeriveWhirConfig(p, &refusal).ok());
  EXPECT_EQ(refusal.reason, "too many claims");
  EXPECT_LT(refusal.fits, 110u);
}

}  // namespace
}  // namespace proofmill::engine
