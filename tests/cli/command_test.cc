#include "cli/command.h"

#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

using engine::ErrorReason;
using testing::HasSubstr;

class ScriptedCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "group act",
            .summary = "Act",
            .positional = {"A", "B", "C"},
            .optional_count = optional_count,
            .repeated = repeated,
            .description = "Acts on files.",
            .examples = "proofmill group act a b c\nproofmill group act c"};
  }
  void DeclareFlags(FlagSet& flags) override { flags.Bool("fast", &fast, "Be quick."); }
  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& given) override {
    positional = given;
    return act();
  }

  size_t optional_count = 0;
  bool repeated = false;
  bool fast = false;
  std::vector<std::string> positional;
  std::function<absl::StatusOr<ExitCode>()> act = [] { return ExitCode::kOk; };
};

// Runs the command and returns its exit code and what it wrote to stderr.
std::pair<ExitCode, std::string> RunAndCapture(ScriptedCommand& command,
                                               const std::vector<std::string>& args) {
  testing::internal::CaptureStderr();
  const ExitCode code = RunCommand(command, args);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(RunCommandTest, FlagsAndArgumentsReachTheCommand) {
  ScriptedCommand command;

  EXPECT_EQ(RunAndCapture(command, {"a", "--fast", "b", "c"}), std::make_pair(ExitCode::kOk, std::string()));
  EXPECT_TRUE(command.fast);
  EXPECT_EQ(command.positional, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(RunCommandTest, TheLastArgumentMayBeRepeatedWhereTheCommandSaysSo) {
  ScriptedCommand command;
  EXPECT_EQ(RunAndCapture(command, {"a", "b", "c", "d"}).first, ExitCode::kBadInput);
  command.repeated = true;
  EXPECT_EQ(RunAndCapture(command, {"a", "b", "c", "d"}).first, ExitCode::kOk);
  EXPECT_EQ(command.positional.size(), 4u);
  EXPECT_THAT(RunAndCapture(command, {"a", "b"}).second, HasSubstr("expected 3 or more arguments"));
  EXPECT_THAT(CommandHelp(command), HasSubstr("group act A B C..."));
}

TEST(RunCommandTest, AnErrorIsOneLineAndAnExitCode) {
  ScriptedCommand command;
  command.act = [] { return absl::InvalidArgumentError("x.zkey: expected 1,\ngot\t2"); };

  const auto [code, text] = RunAndCapture(command, {"a", "b", "c"});

  EXPECT_EQ(code, ExitCode::kBadInput);
  EXPECT_EQ(text, "proofmill group act: x.zkey: expected 1, got 2\n");
}

TEST(RunCommandTest, TheNumberOfArgumentsIsChecked) {
  ScriptedCommand command;

  const auto [code, text] = RunAndCapture(command, {"a", "b"});

  EXPECT_EQ(code, ExitCode::kBadInput);
  EXPECT_EQ(text, "proofmill group act: expected 3 arguments (proofmill group act A B C), got 2\n");
}

TEST(RunCommandTest, OptionalArgumentsComeTogetherOrNotAtAll) {
  ScriptedCommand command;
  command.optional_count = 2;

  EXPECT_EQ(RunAndCapture(command, {"c"}).first, ExitCode::kOk);
  EXPECT_EQ(RunAndCapture(command, {"a", "b", "c"}).first, ExitCode::kOk);
  const auto [code, text] = RunAndCapture(command, {"b", "c"});
  EXPECT_EQ(code, ExitCode::kBadInput);
  EXPECT_THAT(text, HasSubstr("expected 1 or 3 arguments (proofmill group act [A B] C), got 2"));
}

TEST(RunCommandTest, ExceptionsOfLibrariesBecomeFaults) {
  ScriptedCommand command;
  command.act = []() -> absl::StatusOr<ExitCode> { throw std::bad_alloc(); };
  EXPECT_EQ(RunAndCapture(command, {"a", "b", "c"}),
            std::make_pair(ExitCode::kFault, std::string("proofmill group act: out of memory\n")));

  command.act = []() -> absl::StatusOr<ExitCode> { throw std::runtime_error("odd"); };
  const auto [code, text] = RunAndCapture(command, {"a", "b", "c"});
  EXPECT_EQ(code, ExitCode::kFault);
  EXPECT_THAT(text, HasSubstr("odd"));
}

TEST(RunCommandTest, HelpShowsUsageFlagsAndExamplesAndRunsNothing) {
  ScriptedCommand command;
  command.optional_count = 1;
  command.act = []() -> absl::StatusOr<ExitCode> { throw std::runtime_error("ran"); };

  testing::internal::CaptureStdout();
  EXPECT_EQ(RunCommand(command, {"--fast", "--help", "--unknown"}), ExitCode::kOk);
  const std::string help = testing::internal::GetCapturedStdout();

  EXPECT_EQ(help,
            "Act\n\nUsage: proofmill group act [A] B C [flags]\n\nActs on files.\n\n"
            "Flags:\n  --fast\n      Be quick.\n\n"
            "Examples:\n  proofmill group act a b c\n  proofmill group act c\n");
}

TEST(ExitCodeForTest, WhatTheCallerCanMendIsTwoAndWhatHeCannotIsThree) {
  for (const absl::Status& status :
       {absl::InvalidArgumentError(""), absl::NotFoundError(""), absl::FailedPreconditionError(""),
        absl::DataLossError(""), absl::AbortedError(""), absl::PermissionDeniedError(""),
        absl::UnimplementedError(""), absl::ResourceExhaustedError("a file over its limit"),
        engine::WithReason(absl::ResourceExhaustedError(""), ErrorReason::kMessageTooLarge)}) {
    EXPECT_EQ(ExitCodeFor(status), ExitCode::kBadInput) << status;
  }
  for (const absl::Status& status :
       {absl::InternalError(""), absl::UnavailableError(""), absl::DeadlineExceededError(""),
        absl::CancelledError(""), absl::UnknownError(""),
        engine::WithReason(absl::ResourceExhaustedError(""), ErrorReason::kQueueFull),
        engine::WithReason(absl::ResourceExhaustedError(""), ErrorReason::kOutOfMemory)}) {
    EXPECT_EQ(ExitCodeFor(status), ExitCode::kFault) << status;
  }
  EXPECT_EQ(ExitCodeFor(absl::OkStatus()), ExitCode::kOk);
}

}  // namespace
}  // namespace proofmill::cli
