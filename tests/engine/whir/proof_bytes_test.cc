#include "engine/whir/proof_bytes.h"

#include "engine/whir/proof_json.h"
#include "engine/whir/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/whir/cases.h"

namespace proofmill::engine {
namespace {

using testing::HasSubstr;

class WhirProofBytesTest : public testing::Test {
 protected:
  WhirProofBytesTest()
      : case_(MakeWhirCase(SmallStrict())), bytes_(EncodeWhirProof(case_.config, case_.proof)) {}

  std::string ErrorOf(const std::vector<uint8_t>& bytes) const {
    const auto proof = DecodeWhirProof(case_.config, bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(proof.status()));
    return std::string(proof.status().message());
  }

  const WhirCase case_;
  const std::vector<uint8_t> bytes_;
};

TEST_F(WhirProofBytesTest, WhatIsWrittenIsReadAndVerifies) {
  const auto proof = DecodeWhirProof(case_.config, bytes_);

  ASSERT_TRUE(proof.ok()) << proof.status();
  EXPECT_EQ(*proof, case_.proof);
  EXPECT_LE(bytes_.size(), WhirProofBytesMax(case_.config));
  EXPECT_TRUE(VerifyWhirBytes(case_.config, case_.claims, bytes_).valid);
}

TEST_F(WhirProofBytesTest, EveryCutIsRefused) {
  for (size_t length = 0; length < bytes_.size(); length += length < 64 ? 1 : 388) {
    const std::vector<uint8_t> cut(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THAT(ErrorOf(cut), HasSubstr("length")) << length;
  }
}

TEST_F(WhirProofBytesTest, MoreBytesThanAProofHasAreRefused) {
  std::vector<uint8_t> longer = bytes_;
  longer.resize(longer.size() + 4);
  EXPECT_THAT(ErrorOf(longer), HasSubstr("length"));
  longer.resize(WhirProofBytesMax(case_.config) + 4);
  EXPECT_THAT(ErrorOf(longer), HasSubstr("length"));
}

TEST_F(WhirProofBytesTest, HeaderWordsAndCountsAreChecked) {
  std::vector<uint8_t> bad = bytes_;
  bad[0] ^= 1;
  EXPECT_THAT(ErrorOf(bad), HasSubstr("magic"));
  bad = bytes_;
  bad[4] = 2;
  EXPECT_THAT(ErrorOf(bad), HasSubstr("version"));
  bad = bytes_;
  std::fill_n(bad.begin() + 8, 4, uint8_t{0xff});
  EXPECT_THAT(ErrorOf(bad), HasSubstr("canonical"));

  // The first count stands after header, root, OOD answers, the first fold, and what the round has before it.
  const WhirConfig& config = case_.config;
  const auto fold = [&](uint32_t rounds, uint32_t bits) { return rounds * (10 + (bits > 0 ? 1u : 0u)); };
  size_t at = 2 + 8 + 5 * config.ood_samples + fold(2, config.fold_pow_bits);
  ASSERT_TRUE(config.rounds.empty());
  at += (5u << config.final_variables) + (config.final_pow_bits > 0 ? 1 : 0);
  ASSERT_EQ(bytes_[4 * at], case_.proof.final_openings.size());
  bad = bytes_;
  bad[4 * at] = 0;
  EXPECT_THAT(ErrorOf(bad), HasSubstr("number of openings"));
  bad[4 * at + 3] = 0xff;
  EXPECT_THAT(ErrorOf(bad), HasSubstr("number of openings"));
}

TEST(WhirProofJsonTest, BothFormsAreReadAsTheyWereWritten) {
  const WhirCase pin = MakeWhirCase(TwoRounds());
  for (const WhirJsonForm form : {WhirJsonForm::kUpstream, WhirJsonForm::kVectors}) {
    const auto back = WhirProofFromJson(WhirProofToJson(pin.proof, 4, form), 4, form);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, pin.proof);
  }
}

TEST(WhirProofJsonTest, WhatIsNoProofIsAnError) {
  for (const char* const text : {"", "[]", "{}", "{\"initial_commitment\": {\"cap\": []}}",
                                 "{\"initial_commitment\": {\"cap\": [[1,2,3,4,5,6,7,2013265921]]}}"}) {
    const auto proof = WhirProofFromJson(text, 4, WhirJsonForm::kUpstream);
    EXPECT_TRUE(absl::IsInvalidArgument(proof.status())) << text;
  }
}

}  // namespace
}  // namespace proofmill::engine
