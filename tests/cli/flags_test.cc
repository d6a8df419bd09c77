#include "cli/flags.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FlagSetTest : public testing::Test {
 protected:
  FlagSetTest() {
    flags_.String("name", "TEXT", &name_, "A name.");
    flags_.Bool("loud", &loud_, "Be loud.");
    flags_.Bool("check", &check_, "Check.");
    flags_.Uint("count", &count_, {.min = 1, .max = 10}, "How many.");
    flags_.Duration("deadline", &deadline_, "How long.");
    flags_.Choice("backend", &backend_, {"auto", "cpu"}, "Which one.");
  }

  std::string ErrorOf(const std::vector<std::string>& args) {
    const absl::Status status = flags_.Parse(args).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  FlagSet flags_;
  std::string name_ = "none";
  bool loud_ = false;
  bool check_ = true;
  uint64_t count_ = 3;
  absl::Duration deadline_ = absl::Seconds(30);
  std::string backend_ = "auto";
};

TEST_F(FlagSetTest, ValuesComeAfterAnEqualsSignOrAsTheNextWord) {
  ASSERT_TRUE(flags_.Parse({"--name=a", "--count", "7", "--deadline=500ms", "--backend", "cpu"}).ok());

  EXPECT_EQ(name_, "a");
  EXPECT_EQ(count_, 7u);
  EXPECT_EQ(deadline_, absl::Milliseconds(500));
  EXPECT_EQ(backend_, "cpu");
}

TEST_F(FlagSetTest, BooleansAreSetAndUnset) {
  ASSERT_TRUE(flags_.Parse({"--loud", "--nocheck"}).ok());
  EXPECT_TRUE(loud_);
  EXPECT_FALSE(check_);

  ASSERT_TRUE(flags_.Parse({"--loud=false", "--check=true"}).ok());
  EXPECT_FALSE(loud_);
  EXPECT_TRUE(check_);
}

TEST_F(FlagSetTest, PositionalArgumentsStandAnywhereAndABooleanTakesNoneOfThem) {
  const auto positional = flags_.Parse({"a.zkey", "--loud", "b.wtns", "--name", "x", "-", "--", "--c", "-d"});

  ASSERT_TRUE(positional.ok());
  EXPECT_THAT(*positional, ElementsAre("a.zkey", "b.wtns", "-", "--c", "-d"));
}

TEST_F(FlagSetTest, TheValueMayBeEmptyOrHoldAnEqualsSignOrStartWithADash) {
  ASSERT_TRUE(flags_.Parse({"--name="}).ok());
  EXPECT_EQ(name_, "");
  ASSERT_TRUE(flags_.Parse({"--name=a=b"}).ok());
  EXPECT_EQ(name_, "a=b");
  ASSERT_TRUE(flags_.Parse({"--name", "-x"}).ok());
  EXPECT_EQ(name_, "-x");
}

TEST_F(FlagSetTest, AnUnknownFlagIsNamed) {
  EXPECT_THAT(ErrorOf({"--nmae=a"}), HasSubstr("'--nmae'"));
  EXPECT_THAT(ErrorOf({"--noname"}), HasSubstr("'--noname'")) << "only booleans have a negative form";
  EXPECT_THAT(ErrorOf({"-n"}), HasSubstr("'-n'"));
}

TEST_F(FlagSetTest, AMissingValueIsAnError) {
  EXPECT_THAT(ErrorOf({"--count"}), HasSubstr("--count: expected a value"));
}

TEST_F(FlagSetTest, WhatAFlagRefusesIsQuotedWithWhatWasExpected) {
  EXPECT_EQ(ErrorOf({"--count=11"}), "--count: expected a number from 1 to 10, got '11'");
  EXPECT_THAT(ErrorOf({"--count=0"}), HasSubstr("from 1 to 10"));
  EXPECT_THAT(ErrorOf({"--count=-1"}), HasSubstr("got '-1'"));
  EXPECT_THAT(ErrorOf({"--count= 1"}), HasSubstr("got ' 1'"));
  EXPECT_THAT(ErrorOf({"--count=18446744073709551617"}), HasSubstr("--count"));
  EXPECT_THAT(ErrorOf({"--deadline=0s"}), HasSubstr("positive time"));
  EXPECT_THAT(ErrorOf({"--deadline=5"}), HasSubstr("got '5'"));
  EXPECT_THAT(ErrorOf({"--deadline=inf"}), HasSubstr("--deadline"));
  EXPECT_EQ(ErrorOf({"--backend=gpu"}), "--backend: expected one of auto, cpu, got 'gpu'");
  EXPECT_THAT(ErrorOf({"--loud=yes"}), HasSubstr("true or false"));
}

TEST_F(FlagSetTest, WhatIsQuotedIsPrintableAndShort) {
  EXPECT_THAT(ErrorOf({"--count=1\n2"}), HasSubstr("'1?2'"));
  EXPECT_LT(ErrorOf({"--count=" + std::string(10'000, '9')}).size(), 200u);
}

TEST_F(FlagSetTest, CustomFlagsJudgeTheirTextAndTheErrorNamesTheFlag) {
  std::string seen;
  flags_.Custom("size", "SIZE", "1MiB", "How large.", [&](absl::string_view text) {
    seen = std::string(text);
    return text == "bad" ? absl::InvalidArgumentError("expected a size") : absl::OkStatus();
  });
  flags_.Custom("quiet", "", "", "Be quiet.", [&](absl::string_view text) {
    seen = std::string(text);
    return absl::OkStatus();
  });

  ASSERT_TRUE(flags_.Parse({"--size", "2MiB"}).ok());
  EXPECT_EQ(seen, "2MiB");
  ASSERT_TRUE(flags_.Parse({"--noquiet"}).ok());
  EXPECT_EQ(seen, "false");
  EXPECT_EQ(ErrorOf({"--size=bad"}), "--size: expected a size");
}

TEST_F(FlagSetTest, WasGivenKnowsTheLastLine) {
  ASSERT_TRUE(flags_.Parse({"--nocheck", "--count=3"}).ok());
  EXPECT_TRUE(flags_.WasGiven("check"));
  EXPECT_TRUE(flags_.WasGiven("count"));
  EXPECT_FALSE(flags_.WasGiven("name"));

  ASSERT_TRUE(flags_.Parse({}).ok());
  EXPECT_FALSE(flags_.WasGiven("count"));
}

TEST_F(FlagSetTest, TheHelpShowsEveryFlagWithItsDefault) {
  const std::string help = flags_.HelpText();

  EXPECT_THAT(help, HasSubstr("  --name=TEXT\n      A name. (default: none)\n"));
  EXPECT_THAT(help, HasSubstr("  --loud\n      Be loud.\n"));
  EXPECT_THAT(help, HasSubstr("  --[no]check\n      Check. (default: true)\n"));
  EXPECT_THAT(help, HasSubstr("  --deadline=TIME\n      How long. (default: 30s)\n"));
  EXPECT_THAT(help, HasSubstr("  --backend=auto|cpu\n"));
}

}  // namespace
}  // namespace proofmill::cli
