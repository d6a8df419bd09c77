// proofmill whir as people meet it: proofs, answers, known answers, and the warnings.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/process.h"

namespace proofmill::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr uint32_t kVariables = 7;

class WhirProgramTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(File(name), std::ios::binary) << content;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // The polynomial with values 1, 2, 3, .. and a statement about it without the value.
  void WriteInputs() const {
    std::string words;
    for (uint32_t i = 1; i <= 1u << kVariables; ++i) {
      for (int shift = 0; shift < 32; shift += 8) words += static_cast<char>(i >> shift);
    }
    Write("poly.bin", words);
    json point = json::array();
    for (uint32_t i = 0; i < kVariables; ++i) point.push_back({i, 1, 0, 2013265920, 5});
    Write("points.json", json{{"parameters", Parameters()}, {"claims", {{{"point", point}}}}}.dump());
  }
  static json Parameters() {
    return {{"num_variables", kVariables},
            {"folding", {{"constant", 2}}},
            {"security_level", 30},
            {"max_pow_bits", 6}};
  }
  Outcome ProveInputs() const {
    WriteInputs();
    return Proofmill({"whir", "prove", File("points.json"), File("poly.bin"), File("proof"),
                      "--statement_out", File("all.json")});
  }
  Outcome Verify(const std::string& statement, const std::string& proof) const {
    return Proofmill({"whir", "verify", File(statement), File(proof)});
  }

  TemporaryFolder folder_;
};

TEST_F(WhirProgramTest, AProofIsMadeAndAccepted) {
  const Outcome proved = ProveInputs();
  ASSERT_EQ(proved.ending.exit_code, 0) << proved.err;

  const Outcome verified = Verify("all.json", "proof");
  EXPECT_EQ(verified.ending.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.out, "OK\n");
  const json statement = json::parse(Read("all.json"));
  EXPECT_EQ(statement.at("parameters").at("assumption"), "JohnsonBound");
  EXPECT_EQ(statement.at("parameters").at("num_claims"), 1);

  // From the full statement the same bytes come out.
  const Outcome again = Proofmill({"whir", "prove", File("all.json"), File("poly.bin"), File("again")});
  EXPECT_EQ(again.ending.exit_code, 0) << again.err;
  EXPECT_EQ(Read("again"), Read("proof"));
}

TEST_F(WhirProgramTest, AnotherProofOrClaimIsInvalid) {
  ASSERT_EQ(ProveInputs().ending.exit_code, 0);
  std::string proof = Read("proof");
  proof[40] = static_cast<char>(proof[40] ^ 1);
  Write("other", proof);
  Write("longer", std::string(1 << 20, '\0'));
  Write("empty", "");
  for (const char* const name : {"other", "longer", "empty"}) {
    const Outcome run = Verify("all.json", name);
    EXPECT_EQ(run.ending.exit_code, 1) << name;
    EXPECT_EQ(run.out, "INVALID\n") << name;
  }

  json statement = json::parse(Read("all.json"));
  statement["claims"][0]["value"][0] = 1;
  Write("false.json", statement.dump());
  EXPECT_EQ(Verify("false.json", "proof").ending.exit_code, 1);
  const Outcome refused = Proofmill({"whir", "prove", File("false.json"), File("poly.bin"), File("none")});
  EXPECT_EQ(refused.ending.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected values of the polynomial"));
}

TEST_F(WhirProgramTest, BadInputsAreNamed) {
  ASSERT_EQ(ProveInputs().ending.exit_code, 0);
  const auto error_of = [&](const json& parameters, const std::string& polynomial) {
    json statement = json::parse(Read("all.json"));
    statement["parameters"].update(parameters);
    Write("bad.json", statement.dump());
    const Outcome run = Proofmill({"whir", "prove", File("bad.json"), File(polynomial), File("none")});
    EXPECT_EQ(run.ending.exit_code, 2);
    return run.err;
  };
  EXPECT_THAT(error_of({{"assumption", "CapacityBound"}}, "poly.bin"), HasSubstr("conjectural"));
  EXPECT_THAT(error_of({{"num_variables", 8}}, "poly.bin"), HasSubstr("expected 1024 bytes"));
  EXPECT_THAT(error_of({{"no_such", 8}}, "poly.bin"), HasSubstr("unknown name no_such"));
  EXPECT_THAT(error_of({{"security_level", 121}}, "poly.bin"), HasSubstr("security_level: expected"));
  EXPECT_THAT(error_of({{"num_claims", 2}}, "poly.bin"), HasSubstr("claims: expected 2, got 1"));
  EXPECT_THAT(error_of({{"constants", "mine"}}, "poly.bin"),
              HasSubstr(R"(constants: expected default_grain_lfsr or benchmark_smallrng_seed1, got "mine")"));
  EXPECT_THAT(error_of({{"assumption", "Hope"}}, "poly.bin"),
              HasSubstr(R"(assumption: expected UniqueDecoding or JohnsonBound, got "Hope")"));
  Write("high.bin", std::string(4 << kVariables, '\xff'));
  EXPECT_THAT(error_of(json::object(), "high.bin"),
              HasSubstr("expected words below 2013265921, got a larger one at index 0"));
  const Outcome no_value = Proofmill({"whir", "prove", File("points.json"), File("poly.bin"), File("none")});
  EXPECT_THAT(no_value.err, HasSubstr("a value is missing"));

  const auto shape_error_of = [&](const auto& change) {
    json statement = json::parse(Read("all.json"));
    change(statement["claims"][0]);
    Write("bad.json", statement.dump());
    return Proofmill({"whir", "prove", File("bad.json"), File("poly.bin"), File("none")}).err;
  };
  const size_t degree = json::parse(Read("all.json"))["claims"][0]["value"].size();
  EXPECT_THAT(
      shape_error_of([](json& claim) { claim["point"].erase(0); }),
      HasSubstr(absl::StrCat("claim 0: point: expected ", kVariables * degree, " coefficients (", kVariables,
                             " coordinates of ", degree, "), got ", (kVariables - 1) * degree, "\n")));
  EXPECT_THAT(shape_error_of([](json& claim) { claim["point"][1].erase(0); }),
              HasSubstr(absl::StrCat("claim 0: point: expected lists of ", degree,
                                     " coefficients, got one of ", degree - 1, "\n")));
  EXPECT_THAT(
      shape_error_of([](json& claim) { claim["value"].erase(0); }),
      HasSubstr(absl::StrCat("claim 0: value: expected ", degree, " coefficients, got ", degree - 1, "\n")));
}

TEST_F(WhirProgramTest, KnownAnswersAgreeAndDifferencesExitWithOne) {
  const std::string good = "tests/vectors/whir/proof_n4_f2_r1_red1_sec32_pow0_CapacityBound_pts1.json";
  const Outcome agrees = Proofmill({"whir", "check-vector", good, good, "--threads=1"});
  EXPECT_EQ(agrees.ending.exit_code, 0) << agrees.err;
  EXPECT_THAT(agrees.out, HasSubstr("verified, 2 alterations rejected, proved again, identical\nOK"));

  json file = json::parse(std::ifstream(good));
  file["proof"]["initial_ood_answers"][0][0] = 1;
  Write("differs.json", file.dump());
  const Outcome differs = Proofmill({"whir", "check-vector", good, File("differs.json")});
  EXPECT_EQ(differs.ending.exit_code, 1);
  EXPECT_THAT(differs.out, HasSubstr("DIFFERS  differs.json"));

  Write("none.json", "{}");
  EXPECT_EQ(Proofmill({"whir", "check-vector", File("none.json")}).ending.exit_code, 2);
}

TEST_F(WhirProgramTest, TheBenchmarkTimesProofsAndWarns) {
  const std::vector<std::string> command = {"whir",         "bench",    "--cells",
                                            "10,2,1;9,3,1", "--runs=1", "--warmup=0"};
  const Outcome text = Proofmill(command);
  EXPECT_EQ(text.ending.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("CONJECTURAL"));
  EXPECT_THAT(text.out, HasSubstr("NOT hiding"));
  EXPECT_THAT(text.out, HasSubstr("permutations per second"));

  std::vector<std::string> with_json = command;
  with_json.emplace_back("--json");
  const json report = json::parse(Proofmill(with_json).out);
  ASSERT_EQ(report.at("cells").size(), 2u);
  EXPECT_GT(report.at("cells")[0].at("median_seconds"), 0);
  EXPECT_GT(report.at("cells")[0].at("proof_bytes"), 1000);
  EXPECT_GT(report.at("vector_permutations_per_second"), 0);

  for (const char* const bad : {"20", "20,4", "27,4,1", "20,4,0", "24,1,5", "a,b,c"}) {
    EXPECT_EQ(Proofmill({"whir", "bench", "--cells", bad}).ending.exit_code, 2) << bad;
  }
}

TEST_F(WhirProgramTest, EveryHelpSaysThatItIsNotHiding) {
  for (const char* const name : {"prove", "bench", "check-vector"}) {
    EXPECT_THAT(Proofmill({"whir", name, "--help"}).out, HasSubstr("NOT hiding")) << name;
  }
}

}  // namespace
}  // namespace proofmill::e2e
