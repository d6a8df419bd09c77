// JSON with one fault each, as a table: wrong types, spellings, counts, ranges and points.

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/formats/json_text.h"
#include "engine/formats/snarkjs_json.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using Json = nlohmann::json;

constexpr const char* kQ = "21888242871839275222246405745257275088696311157297823662689037894645226208583";
constexpr const char* kR = "21888242871839275222246405745257275088548364400416034343698204186575808495617";

constexpr const char* kG2Infinity = R"([["0","0"],["1","0"],["0","0"]])";

struct Row {
  const char* name;
  std::function<void(Json&)> damage;
  const char* message;
};
using Table = testing::TestParamInfo<Row>;
std::string NameOf(const Table& row) { return row.param.name; }

const Row kProofRows[] = {
    {"Null", [](Json& p) { p = nullptr; }, "proof: expected an object, got null"},
    {"Array", [](Json& p) { p = Json::array(); }, "proof: expected an object, got array"},
    {"AMissing", [](Json& p) { p.erase("pi_a"); }, "proof: \"pi_a\" is missing"},
    {"BMissing", [](Json& p) { p.erase("pi_b"); }, "\"pi_b\" is missing"},
    {"CMissing", [](Json& p) { p.erase("pi_c"); }, "\"pi_c\" is missing"},
    {"ProtocolMissing", [](Json& p) { p.erase("protocol"); }, "\"protocol\" is missing"},
    {"ProtocolPlonk", [](Json& p) { p["protocol"] = "plonk"; },
     "protocol: expected \"groth16\", got \"plonk\""},
    {"ProtocolOfControlCharacters", [](Json& p) { p["protocol"] = "\x1b[2J\n"; },
     "expected \"groth16\", got another string"},
    {"ProtocolVeryLong", [](Json& p) { p["protocol"] = std::string(1000, 'x'); }, "got another string"},
    {"ProtocolNumber", [](Json& p) { p["protocol"] = 1; }, "protocol: expected a string, got number"},
    {"CurveBls", [](Json& p) { p["curve"] = "bls12381"; }, "curve: expected \"bn128\", got \"bls12381\""},
    {"CurveNull", [](Json& p) { p["curve"] = nullptr; }, "curve: expected a string, got null"},
    {"ANull", [](Json& p) { p["pi_a"] = nullptr; }, "pi_a: expected an array, got null"},
    {"AObject", [](Json& p) { p["pi_a"] = Json::object(); }, "pi_a: expected an array, got object"},
    {"AShort", [](Json& p) { p["pi_a"].erase(2); }, "pi_a: expected an array of 3, got one of 2"},
    {"ALong", [](Json& p) { p["pi_a"].push_back("1"); }, "pi_a: expected an array of 3, got one of 4"},
    {"BShort", [](Json& p) { p["pi_b"].erase(2); }, "pi_b: expected an array of 3, got one of 2"},
    {"BCoordinateShort", [](Json& p) { p["pi_b"][0].erase(1); },
     "pi_b[0]: expected an array of 2, got one of 1"},
    {"BFlat",
     [](Json& p) {
       p["pi_b"] = {"1", "2", "1"};
     },
     "pi_b[0]: expected an array, got string"},
    {"Number", [](Json& p) { p["pi_a"][0] = 1; }, "pi_a[0]: expected a string, got number"},
    {"Float", [](Json& p) { p["pi_a"][0] = 1.5; }, "pi_a[0]: expected a string, got number"},
    {"Boolean", [](Json& p) { p["pi_a"][0] = true; }, "pi_a[0]: expected a string, got boolean"},
    {"Nested", [](Json& p) { p["pi_a"][0] = {"1"}; }, "pi_a[0]: expected a string, got array"},
    {"Negative", [](Json& p) { p["pi_a"][0] = "-1"; }, "pi_a[0]: expected a decimal number, got"},
    {"Hexadecimal", [](Json& p) { p["pi_a"][0] = "0x1"; }, "pi_a[0]: expected a decimal number, got"},
    {"LeadingZero", [](Json& p) { p["pi_a"][0] = absl::StrCat("0", p["pi_a"][0].get<std::string>()); },
     "pi_a[0]: expected a decimal number, got one with leading zeros"},
    {"Spaces", [](Json& p) { p["pi_a"][0] = absl::StrCat(" ", p["pi_a"][0].get<std::string>()); },
     "other characters than digits"},
    {"Empty", [](Json& p) { p["pi_a"][0] = ""; }, "pi_a[0]: expected a decimal number, got an empty string"},
    {"FloatString", [](Json& p) { p["pi_a"][0] = "1.0"; }, "other characters than digits"},
    {"Exponent", [](Json& p) { p["pi_a"][0] = "1e5"; }, "other characters than digits"},
    {"TrailingZeroByte", [](Json& p) { p["pi_a"][0] = std::string("1\0", 2); },
     "other characters than digits"},
    {"Huge", [](Json& p) { p["pi_a"][0] = std::string(10'000, '1'); }, "got one of 10000 digits"},
    {"CoordinateIsQ", [](Json& p) { p["pi_a"][0] = kQ; },
     "pi_a[0]: expected a number below 2188824287183927522224640574525727508869631"},
    {"SecondCoordinateIsQ", [](Json& p) { p["pi_b"][1][1] = kQ; }, "pi_b[1][1]: expected a number below"},
    {"LastCoordinateIsQPlus1",
     [](Json& p) {
       p["pi_c"][2] = "21888242871839275222246405745257275088696311157297823662689037894645226208584";
     },
     "pi_c[2]: expected a number below"},
    {"AOffCurve", [](Json& p) { p["pi_a"][0] = "1"; }, "pi_a: expected a point on the curve"},
    {"BOffCurve", [](Json& p) { p["pi_b"][0][0] = "1"; }, "pi_b: expected a point on the curve"},
    {"COffCurve", [](Json& p) { std::swap(p["pi_c"][0], p["pi_c"][1]); },
     "pi_c: expected a point on the curve"},
    {"BSwapped", [](Json& p) { std::swap(p["pi_b"][0][0], p["pi_b"][0][1]); },
     "pi_b: expected a point on the curve"},
    {"ZeroPoint",
     [](Json& p) {
       p["pi_a"] = {"0", "0", "1"};
     },
     "pi_a: expected a point on the curve"},
    {"ZeroPointInG2", [](Json& p) { p["pi_b"] = Json::parse(R"([["0","0"],["0","0"],["1","0"]])"); },
     "pi_b: expected a point on the curve"},
    {"AllZeros",
     [](Json& p) {
       p["pi_a"] = {"0", "0", "0"};
     },
     "pi_a: expected an affine point"},
    {"InfinityWithX",
     [](Json& p) {
       p["pi_a"] = {"1", "1", "0"};
     },
     "pi_a: expected an affine point"},
    {"InfinityWithY2",
     [](Json& p) {
       p["pi_a"] = {"0", "2", "0"};
     },
     "pi_a: expected an affine point"},
    {"LastCoordinate2", [](Json& p) { p["pi_a"][2] = "2"; },
     "pi_a: expected an affine point (last coordinate one)"},
    {"LastCoordinateInG2HasU",
     [](Json& p) {
       p["pi_b"][2] = {"1", "1"};
     },
     "pi_b: expected an affine point"},
    {"InfinityInG2WithU", [](Json& p) { p["pi_b"] = Json::parse(R"([["0","0"],["1","1"],["0","0"]])"); },
     "pi_b: expected an affine point"},
};

class ProofJsonDamageTest : public testing::TestWithParam<Row> {};
TEST_P(ProofJsonDamageTest, IsRefusedByPlace) {
  Json proof = Json::parse(ReadText("tests/vectors/snarkjs/mul3/proof.json"));
  GetParam().damage(proof);
  ExpectError(ParseProofJson(proof.dump()), StatusCode::kInvalidArgument, GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(Rows, ProofJsonDamageTest, testing::ValuesIn(kProofRows), NameOf);

const Row kKeyRows[] = {
    {"Array", [](Json& k) { k = Json::array(); }, "verification key: expected an object, got array"},
    {"ProtocolPlonk", [](Json& k) { k["protocol"] = "plonk"; },
     "protocol: expected \"groth16\", got \"plonk\""},
    {"CurveBls", [](Json& k) { k["curve"] = "bls12381"; }, "curve: expected \"bn128\""},
    {"AlphaMissing", [](Json& k) { k.erase("vk_alpha_1"); }, "\"vk_alpha_1\" is missing"},
    {"DeltaMissing", [](Json& k) { k.erase("vk_delta_2"); }, "\"vk_delta_2\" is missing"},
    {"AlphaInfinity",
     [](Json& k) {
       k["vk_alpha_1"] = {"0", "1", "0"};
     },
     "vk_alpha_1: expected a finite point, got infinity"},
    {"BetaInfinity", [](Json& k) { k["vk_beta_2"] = Json::parse(kG2Infinity); },
     "vk_beta_2: expected a finite point, got infinity"},
    {"GammaInfinity", [](Json& k) { k["vk_gamma_2"] = Json::parse(kG2Infinity); },
     "vk_gamma_2: expected a finite point, got infinity"},
    {"DeltaInfinity", [](Json& k) { k["vk_delta_2"] = Json::parse(kG2Infinity); },
     "vk_delta_2: expected a finite point, got infinity"},
    {"AlphaOffCurve", [](Json& k) { k["vk_alpha_1"][0] = "1"; }, "vk_alpha_1: expected a point on the curve"},
    {"GammaOffCurve", [](Json& k) { k["vk_gamma_2"][1][0] = "1"; },
     "vk_gamma_2: expected a point on the curve"},
    {"PublicMissing", [](Json& k) { k.erase("nPublic"); }, "\"nPublic\" is missing"},
    {"PublicString", [](Json& k) { k["nPublic"] = "2"; },
     "nPublic: expected a whole number, got another string"},
    {"PublicNegative", [](Json& k) { k["nPublic"] = -2; }, "nPublic: expected a whole number"},
    {"PublicFloat", [](Json& k) { k["nPublic"] = 2.0; }, "nPublic: expected a whole number"},
    {"PublicOneMore", [](Json& k) { k["nPublic"] = 3; },
     "IC: expected an array of nPublic + 1 points, nPublic being 3, got one of 3"},
    {"PublicMax", [](Json& k) { k["nPublic"] = ~uint64_t{0}; },
     "nPublic being 18446744073709551615, got one of 3"},
    {"IcMissing", [](Json& k) { k.erase("IC"); }, "\"IC\" is missing"},
    {"IcEmpty", [](Json& k) { k["IC"] = Json::array(); }, "got one of 0"},
    {"IcObject", [](Json& k) { k["IC"] = Json::object(); }, "got object"},
    {"IcShort", [](Json& k) { k["IC"].erase(2); }, "nPublic being 2, got one of 2"},
    {"IcLong", [](Json& k) { k["IC"].push_back(k["IC"][0]); }, "nPublic being 2, got one of 4"},
    {"IcPointOffCurve", [](Json& k) { k["IC"][2][1] = "1"; }, "IC[2]: expected a point on the curve"},
    {"IcPointNumber", [](Json& k) { k["IC"][1][0] = 5; }, "IC[1][0]: expected a string, got number"},
    {"AlphabetaShort", [](Json& k) { k["vk_alphabeta_12"].erase(1); },
     "vk_alphabeta_12: expected an array of 2, got one of 1"},
    {"AlphabetaRowShort", [](Json& k) { k["vk_alphabeta_12"][1].erase(1); },
     "vk_alphabeta_12[1]: expected an array of 3, got one of 2"},
    {"AlphabetaNumber", [](Json& k) { k["vk_alphabeta_12"][1][2][0] = 1; },
     "vk_alphabeta_12[1][2][0]: expected a string, got number"},
    {"AlphabetaIsQ", [](Json& k) { k["vk_alphabeta_12"][1][2][1] = kQ; },
     "vk_alphabeta_12[1][2][1]: expected a number below"},
};

class VerificationKeyJsonDamageTest : public testing::TestWithParam<Row> {};
TEST_P(VerificationKeyJsonDamageTest, IsRefusedByPlace) {
  Json key = Json::parse(ReadText(CasePath("mul3", "verification_key.json")));
  GetParam().damage(key);
  ExpectError(ParseVerificationKeyJson(key.dump()), StatusCode::kInvalidArgument, GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(Rows, VerificationKeyJsonDamageTest, testing::ValuesIn(kKeyRows), NameOf);

TEST(PublicJsonDamageTest, OtherThingsThanArraysOfDecimalStringsAreRefused) {
  const struct {
    std::string text;
    const char* message;
  } rows[] = {{"{}", "expected an array, got object"},
              {"\"1\"", "expected an array, got string"},
              {"1", "expected an array, got number"},
              {"true", "expected an array, got boolean"},
              {"[1]", "public signals[0]: expected a string, got number"},
              {"[null]", "public signals[0]: expected a string, got null"},
              {"[[\"1\"]]", "public signals[0]: expected a string, got array"},
              {"[\"1\", \"-1\"]", "public signals[1]: expected a decimal number"},
              {"[\"0x1\"]", "other characters than digits"},
              {"[\"01\"]", "leading zeros"},
              {"[\"1.0\"]", "other characters than digits"},
              {std::string("[\"") + kR + "\"]",
               "public signals[0]: expected a number below 218882428718392752222464057"},
              {std::string("[\"") + kQ + "\"]", "public signals[0]: expected a number below"},
              {"[\"" + std::string(100'000, '9') + "\"]", "got one of 100000 digits"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text.substr(0, 100));
    ExpectError(ParsePublicJson(row.text), StatusCode::kInvalidArgument, row.message);
  }
}

TEST(PublicJsonDamageTest, TheCountIsExact) {
  EXPECT_OK(ParsePublicJson(R"(["1", "2"])", 2));
  ExpectError(ParsePublicJson(R"(["1", "2"])", 1), StatusCode::kInvalidArgument,
              "expected an array of 1, got one of 2");
  ExpectError(ParsePublicJson(R"(["1", "2"])", 3), StatusCode::kInvalidArgument,
              "expected an array of 3, got one of 2");
  ExpectError(ParsePublicJson("[]", 1), StatusCode::kInvalidArgument, "expected an array of 1, got one of 0");
  ExpectError(ParsePublicJson("null", 1), StatusCode::kInvalidArgument, "expected an array of 1, got null");
}

// Text that is no JSON, or that the library alone would take without a word.
TEST(JsonTextTest, BrokenTextIsRefusedWithoutAnException) {
  const std::string good = ReadText("tests/vectors/snarkjs/mul3/proof.json");
  for (size_t length = 0; length < good.size(); ++length) {
    ExpectError(ParseProofJson(good.substr(0, length)), StatusCode::kInvalidArgument,
                "proof: not JSON: syntax error at byte");
  }
  for (const std::string& text :
       {good + "x", good + good, absl::StrCat("\xff\xfe", good), absl::StrCat("'", good), good + "]"}) {
    ExpectError(ParseProofJson(text), StatusCode::kInvalidArgument, "proof: not JSON: syntax error at byte");
  }
  ExpectError(ParsePublicJson("[\"\xff\"]"), StatusCode::kInvalidArgument, "not JSON");
  ExpectError(ParsePublicJson("[1e999]"), StatusCode::kInvalidArgument, "");
}

TEST(JsonTextTest, AZeroByteEndsNothing) {
  const std::string good = ReadText("tests/vectors/snarkjs/mul3/proof.json");
  ExpectError(ParseProofJson(good + '\0'), StatusCode::kInvalidArgument, "got a zero byte");
  ExpectError(ParsePublicJson(std::string("[]\0[", 4)), StatusCode::kInvalidArgument, "got a zero byte");
}

TEST(JsonTextTest, AKeyThatComesTwiceIsRefused) {
  ExpectError(ParseJsonText("t", R"({"a": 1, "b": 2, "a": 3})", 100), StatusCode::kInvalidArgument,
              "expected each key once");
  ExpectError(ParseJsonText("t", R"([{"x": {"a": 1, "\u0061": 1}}])", 100), StatusCode::kInvalidArgument,
              "expected each key once");
  EXPECT_OK(ParseJsonText("t", R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", 100));
}

TEST(JsonTextTest, DepthIsBounded) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_OK(ParseJsonText("t", nested(kJsonDepthMax), 1000));
  ExpectError(ParseJsonText("t", nested(kJsonDepthMax + 1), 1000), StatusCode::kInvalidArgument,
              "expected at most 16 levels");
  ExpectError(ParsePublicJson(std::string(8'000'000, '[')), StatusCode::kInvalidArgument,
              "expected at most 16 levels");
}

TEST(JsonTextTest, LengthIsBounded) {
  ExpectError(ParseProofJson(std::string(kProofJsonBytesMax + 1, ' ')), StatusCode::kResourceExhausted,
              "proof: expected at most 65536 bytes of JSON, got 65537");
  ExpectError(ParsePublicJson(std::string(kPublicJsonBytesMax + 1, ' ')), StatusCode::kResourceExhausted,
              "public signals: expected at most");
  ExpectError(ParseVerificationKeyJson(std::string(kVerificationKeyJsonBytesMax + 1, ' ')),
              StatusCode::kResourceExhausted, "verification key: expected at most");
  ExpectError(ParseProofJson(std::string(kProofJsonBytesMax, ' ')), StatusCode::kInvalidArgument, "not JSON");
}

}  // namespace
}  // namespace proofmill::engine
