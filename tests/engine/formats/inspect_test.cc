#include "engine/formats/inspect.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

Json Inspect(const std::string& path) {
  const auto report = InspectFile(path);
  EXPECT_OK(report);
  return report.ok() ? Json::parse(report->ToJson()) : Json();
}

TEST(InspectTest, AKeyIsDescribed) {
  const Json facts = Inspect(CasePath("unused", "circuit.zkey"));
  EXPECT_EQ(facts["kind"], "zkey");
  EXPECT_EQ(facts["file_bytes"], 16728);
  EXPECT_EQ(facts["protocol"], "groth16");
  EXPECT_EQ(facts["curve"], "bn128");
  EXPECT_EQ(facts["wires"], 47);
  EXPECT_EQ(facts["public_signals"], 4);
  EXPECT_EQ(facts["domain_size"], 8);
  EXPECT_EQ(facts["domain_log2"], 3);
  EXPECT_EQ(facts["coefficients"], 7);
  EXPECT_EQ(facts["constraints"], 1);
  EXPECT_EQ(facts["infinities_a"], 41);
  EXPECT_EQ(facts["infinities_b1"], 46);
  EXPECT_EQ(facts["infinities_b2"], 46);
  EXPECT_EQ(facts["infinities_c"], 40);
  EXPECT_EQ(facts["infinities_h"], 0);
  EXPECT_EQ(facts["gamma_equals_delta"], false);
  // Computed with Python's hashlib.
  EXPECT_EQ(facts["blake2b512"],
            "20fbd338b73ffc495da62cf12c25e813e8209c2e07dfd5ed4d55b9932adc72b7"
            "e3720899e1595b6f7acf94407a8278ff505d5537b0a23553abafe483b2ff22f9");
  EXPECT_EQ(facts["sections"].size(), 10u);
}

TEST(InspectTest, ContributionsAndWarningsAreListed) {
  const Json signed_key = Inspect(CasePath("sj-mul3", "circuit.zkey"));
  ASSERT_EQ(signed_key["contributions"].size(), 3u);
  EXPECT_EQ(signed_key["contributions"][2]["type"], "beacon");
  EXPECT_EQ(signed_key["sections"].back()["name"], "contributions");
  EXPECT_TRUE(signed_key["warnings"].empty());

  const TestFolder folder;
  Container key = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  key.Remove(10);
  std::copy_n(key[2].begin() + 340, 128, key[2].begin() + 532);  // delta2 = gamma2
  WriteBytes(folder.Path("key.zkey"), key.Serialize());
  const Json unsafe = Inspect(folder.Path("key.zkey"));
  EXPECT_EQ(unsafe["gamma_equals_delta"], true);
  ASSERT_EQ(unsafe["warnings"].size(), 2u);
  EXPECT_THAT(unsafe["warnings"][0].get<std::string>(), HasSubstr("section 10 is absent"));
  EXPECT_THAT(unsafe["warnings"][1].get<std::string>(), HasSubstr("unsafe set-up"));
}

TEST(InspectTest, AContributorsNameCannotCommandTheTerminal) {
  const TestFolder folder;
  Container key = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  // The name of the first contribution: kind 1, length, text.
  Bytes& section = key[10];
  const size_t name = 64 + 4 + 3 * 64 + 128 + 64 + 8;
  ASSERT_EQ(section[name], 1);
  ASSERT_GE(section[name + 1], 3);
  section[name + 2] = 0x1b;
  section[name + 3] = '\n';
  section[name + 4] = 0xff;
  WriteBytes(folder.Path("key.zkey"), key.Serialize());
  const auto report = InspectFile(folder.Path("key.zkey"));
  ASSERT_OK(report);
  EXPECT_THAT(report->ToText(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(report->ToText(), HasSubstr("name: ??"));
  EXPECT_FALSE(Json::parse(report->ToJson()).is_null());
}

TEST(InspectTest, OfAWitnessOnlyCountsAreTold) {
  const Json facts = Inspect(CasePath("mul3", "witness.wtns"));
  EXPECT_EQ(facts["kind"], "wtns");
  EXPECT_EQ(facts["version"], 2);
  EXPECT_EQ(facts["values"], 7);
  EXPECT_EQ(facts["zero_values"], 0);
  EXPECT_EQ(facts["one_values"], 1);
  EXPECT_NEAR(facts["one_percent"].get<double>(), 14.29, 0.01);
  EXPECT_NEAR(facts["other_below_2_64_percent"].get<double>(), 42.86, 0.01);
  EXPECT_FALSE(facts.contains("blake2b512")) << "the hash of a guessable secret gives it away";

  const Json input = Json::parse(ReadText(CasePath("mul3", "input.json")));
  const auto report = InspectFile(CasePath("mul3", "witness.wtns"));
  ASSERT_OK(report);
  for (const auto& [key, value] : input.items()) {
    const std::string text = value.get<std::string>();
    if (text.size() > 2) {
      EXPECT_THAT(report->ToText(), Not(HasSubstr(text)));
    }
  }
}

TEST(InspectTest, AWitnessThatDoesNotBeginWithOneIsWarnedOf) {
  const TestFolder folder;
  Container witness = Container::FromFile(CasePath("mul3", "witness.wtns"));
  witness[2][0] = 2;
  WriteBytes(folder.Path("w.wtns"), witness.Serialize());
  EXPECT_THAT(Inspect(folder.Path("w.wtns"))["warnings"][0].get<std::string>(), HasSubstr("is not 1"));
}

TEST(InspectTest, AConstraintSystemIsDescribed) {
  const Json facts = Inspect(CasePath("mul3", "circuit.r1cs"));
  EXPECT_EQ(facts["kind"], "r1cs");
  EXPECT_EQ(facts["constraints"], 3);
  EXPECT_EQ(facts["wires"], 7);
  EXPECT_EQ(facts["public_outputs"], 1);
  EXPECT_EQ(facts["public_inputs"], 1);
  EXPECT_EQ(facts["private_inputs"], 2);
  EXPECT_EQ(facts["blake2b512"].get<std::string>().substr(0, 16), "cfd7172f710c7380");
}

TEST(InspectTest, JsonFilesAreToldApart) {
  const Json proof = Inspect("tests/vectors/snarkjs/mul3/proof.json");
  EXPECT_EQ(proof["kind"], "proof");
  EXPECT_EQ(proof["b_in_subgroup"], true);
  EXPECT_EQ(proof["infinity_a"], false);
  const Json signals = Inspect(CasePath("mul3", "public.json"));
  EXPECT_EQ(signals["kind"], "public");
  EXPECT_EQ(signals["public_signals"], 2);
  const Json key = Inspect(CasePath("mul3", "verification_key.json"));
  EXPECT_EQ(key["kind"], "verification_key");
  EXPECT_EQ(key["public_signals"], 2);
  EXPECT_EQ(key["g2_in_subgroup"], true);
  EXPECT_EQ(key["gamma_equals_delta"], false);

  const TestFolder folder;
  WriteBytes(folder.Path("null.json"), {'n', 'u', 'l', 'l'});
  EXPECT_EQ(Inspect(folder.Path("null.json"))["public_signals"], 0);
}

TEST(InspectTest, TextHasALineForEachFact) {
  const auto report = InspectFile(CasePath("sj-mul3", "circuit.zkey"));
  ASSERT_OK(report);
  const std::string text = report->ToText();
  EXPECT_THAT(text, testing::StartsWith("kind: zkey\nfile_bytes: 5246\n"));
  EXPECT_THAT(text, HasSubstr("\ngamma_equals_delta: false\n"));
  EXPECT_THAT(text,
              HasSubstr("\nsections: 10\n  id: 1  name: protocol  offset_bytes: 24  length_bytes: 4\n"));
  EXPECT_THAT(text, HasSubstr("\ncontributions: 3\n"));
}

TEST(InspectTest, WhatTheParserRefusesIsRefusedWithItsError) {
  const TestFolder folder;
  Container key = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  SetU32(key[1], 0, 2);
  WriteBytes(folder.Path("plonk.zkey"), key.Serialize());
  ExpectError(InspectFile(folder.Path("plonk.zkey")), StatusCode::kInvalidArgument,
              "not a Groth16 key (PLONK)");

  WriteBytes(folder.Path("other.json"), {'{', '}'});
  ExpectError(InspectFile(folder.Path("other.json")), StatusCode::kInvalidArgument,
              "other.json: expected the JSON of a proof");
  WriteBytes(folder.Path("broken.json"), {'{', '"'});
  ExpectError(InspectFile(folder.Path("broken.json")), StatusCode::kInvalidArgument, "not JSON");
  WriteBytes(folder.Path("elf"), {0x7f, 'E', 'L', 'F', 1});
  ExpectError(InspectFile(folder.Path("elf")), StatusCode::kInvalidArgument,
              "got one that begins with \"\\x7f\\x45LF\"");
  WriteBytes(folder.Path("empty"), {});
  ExpectError(InspectFile(folder.Path("empty")), StatusCode::kInvalidArgument,
              "expected a .zkey, .wtns, .r1cs or JSON file");
  ExpectError(InspectFile(folder.Path("missing")), StatusCode::kNotFound, "cannot open");
}

}  // namespace
}  // namespace proofmill::engine
