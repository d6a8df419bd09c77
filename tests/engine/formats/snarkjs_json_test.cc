// What snarkjs and rapidsnark write is read, and what we write is what snarkjs writes.

#include "engine/formats/snarkjs_json.h"

#include <string>

#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::G2Affine;
using Json = nlohmann::json;

constexpr const char* kSnarkjsCases[] = {"mul3", "big1", "nopriv", "sj-outonly"};

std::string SnarkjsText(const char* name, const char* file) {
  return ReadText(std::string("tests/vectors/snarkjs/") + name + "/" + file);
}

VerificationKey KeyOfCase(const char* name) {
  const Bytes bytes = ReadBytes(CasePath(name, "circuit.zkey"));
  const Zkey zkey = ReadZkey(SourceOf(bytes)).value();
  const ZkeyHeader& header = zkey.header;
  return {header.alpha1, header.beta2, header.gamma2, header.delta2, {zkey.ic.begin(), zkey.ic.end()}};
}

TEST(ProofJsonTest, TheTextOfSnarkjsComesBackByteForByte) {
  for (const char* name : kSnarkjsCases) {
    SCOPED_TRACE(name);
    const std::string text = SnarkjsText(name, "proof.json");
    const auto proof = ParseProofJson(text);
    ASSERT_OK(proof);
    EXPECT_EQ(ProofToJson(*proof), text);
  }
}

TEST(ProofJsonTest, TheCompactSortedTextOfRapidsnarkGivesTheSameProof) {
  for (const char* name : kSnarkjsCases) {
    const std::string text = SnarkjsText(name, "proof.json");
    Json sorted = Json::parse(text);  // this type sorts its keys
    sorted.erase("curve");
    EXPECT_TRUE(ParseProofJson(sorted.dump()).value() == ParseProofJson(text).value());
  }
}

TEST(ProofJsonTest, InfinityHasItsFormAndSurvives) {
  Groth16Proof proof{G1Affine::Infinity(), G2Affine::Infinity(), kernels::kG1Generator};
  const std::string text = ProofToJson(proof);
  EXPECT_EQ(Json::parse(text)["pi_a"], Json({"0", "1", "0"}));
  EXPECT_EQ(Json::parse(text)["pi_b"], Json::parse(R"([["0", "0"], ["1", "0"], ["0", "0"]])"));
  EXPECT_TRUE(ParseProofJson(text).value() == proof);
}

TEST(ProofJsonTest, UnknownKeysAndOtherNamesOfTheCurveAreIgnored) {
  Json object = Json::parse(SnarkjsText("mul3", "proof.json"));
  object["curve"] = "bn254";
  object["made_by"] = {{"anything", 1.5}, {"list", {1, 2, nullptr, true}}};
  EXPECT_OK(ParseProofJson(object.dump()));
  EXPECT_OK(ParseProofJson(" \n\t" + object.dump() + "\n"));
}

TEST(PublicJsonTest, TheTextOfSnarkjsComesBackByteForByte) {
  for (const char* name : {"mul3", "nopriv", "sj-outonly"}) {
    SCOPED_TRACE(name);
    const std::string text = SnarkjsText(name, "public.json");
    const auto signals = ParsePublicJson(text);
    ASSERT_OK(signals);
    EXPECT_EQ(PublicToJson(*signals), text);
  }
}

TEST(PublicJsonTest, NoSignalsIsAnEmptyArrayAndNullIsReadAsOne) {
  EXPECT_EQ(PublicToJson({}), "[]");
  for (const std::string& text :
       {std::string("[]"), std::string("[\n]"), std::string("null"), SnarkjsText("big1", "public.json")}) {
    const auto signals = ParsePublicJson(text, 0);
    ASSERT_OK(signals);
    EXPECT_TRUE(signals->empty());
  }
}

TEST(PublicJsonTest, ValuesArePlainIntegers) {
  const auto signals = ParsePublicJson(
      R"(["0", "7", "21888242871839275222246405745257275088548364400416034343698204186575808495616"])");
  ASSERT_OK(signals);
  EXPECT_TRUE((*signals)[0].IsZero());
  EXPECT_TRUE((*signals)[1] == Fr::FromUint64(7));
  EXPECT_TRUE((*signals)[2] == -Fr::One());
}

TEST(VerificationKeyJsonTest, TheExportOfSnarkjsIsReproducedForEveryCase) {
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    const std::string text = ReadText(CasePath(name, "verification_key.json"));
    const VerificationKey key = KeyOfCase(name);
    const auto parsed = ParseVerificationKeyJson(text);
    ASSERT_OK(parsed);
    EXPECT_TRUE(*parsed == key);
    const std::string written = VerificationKeyToJson(key);
    EXPECT_EQ(Json::parse(written), Json::parse(text));
    EXPECT_EQ(written, text) << "the text layout differs";
  }
}

TEST(VerificationKeyJsonTest, CompactSortedAndWithoutAlphabetaIsReadToo) {
  Json object = Json::parse(ReadText(CasePath("mul3", "verification_key.json")));
  const VerificationKey key = KeyOfCase("mul3");
  EXPECT_TRUE(ParseVerificationKeyJson(object.dump()).value() == key);
  object.erase("vk_alphabeta_12");
  object.erase("curve");
  EXPECT_TRUE(ParseVerificationKeyJson(object.dump()).value() == key);
}

TEST(VerificationKeyJsonTest, InfinityAmongTheIcPointsIsFine) {
  Json object = Json::parse(ReadText(CasePath("mul3", "verification_key.json")));
  object["IC"][1] = {"0", "1", "0"};
  const auto key = ParseVerificationKeyJson(object.dump());
  ASSERT_OK(key);
  EXPECT_TRUE(key->ic[1].IsInfinity());
}

TEST(VerificationKeyJsonTest, AnotherAlphabetaIsRefusedUnlessNobodyAsks) {
  Json object = Json::parse(ReadText(CasePath("mul3", "verification_key.json")));
  object["vk_alphabeta_12"][0][0][0] = "5";
  ExpectError(ParseVerificationKeyJson(object.dump()), absl::StatusCode::kInvalidArgument,
              "vk_alphabeta_12: expected the pairing of vk_alpha_1 and vk_beta_2, got another value");
  EXPECT_OK(ParseVerificationKeyJson(object.dump(), {.check_alphabeta = false}));
}

}  // namespace
}  // namespace proofmill::engine
