#include "cli/command.h"

#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/error_reason.h"

namespace proofmill::cli {
namespace {

bool AsksForHelp(const std::vector<std::string>& args) {
  for (const std::string& argument : args) {
    if (argument == "--") return false;
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

std::string Usage(const CommandInfo& info) {
  std::string usage = absl::StrCat("proofmill ", info.name);
  for (size_t i = 0; i < info.positional.size(); ++i) {
    const bool optional = i < info.optional_count;
    absl::StrAppend(&usage, " ", optional && i == 0 ? "[" : "", info.positional[i],
                    optional && i + 1 == info.optional_count ? "]" : "");
  }
  if (info.repeated) absl::StrAppend(&usage, "...");
  return usage;
}

absl::StatusOr<ExitCode> ParseAndRun(Command& command, const CommandInfo& info,
                                     const std::vector<std::string>& args) {
  FlagSet flags;
  command.DeclareFlags(flags);
  absl::StatusOr<std::vector<std::string>> positional = flags.Parse(args);
  if (!positional.ok()) return positional.status();
  const size_t all = info.positional.size();
  const bool more = info.repeated && positional->size() > all;
  if (positional->size() != all && positional->size() != all - info.optional_count && !more) {
    const std::string fewer = info.optional_count == 0 ? "" : absl::StrCat(all - info.optional_count, " or ");
    return absl::InvalidArgumentError(absl::StrCat("expected ", fewer, all, info.repeated ? " or more" : "",
                                                   " arguments (", Usage(info), "), got ",
                                                   positional->size()));
  }
  return command.Run(*positional);
}

// Exceptions come from libraries only and end here.
absl::StatusOr<ExitCode> RunGuarded(Command& command, const CommandInfo& info,
                                    const std::vector<std::string>& args) {
  try {
    return ParseAndRun(command, info, args);
  } catch (const std::bad_alloc&) {
    return engine::WithReason(absl::ResourceExhaustedError("out of memory"),
                              engine::ErrorReason::kOutOfMemory);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("unexpected exception: ", error.what()));
  }
}

}  // namespace

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kAborted:
      return ExitCode::kBadInput;
    case absl::StatusCode::kResourceExhausted: {
      const std::optional<engine::ErrorReason> reason = engine::GetReason(status);
      return !reason || *reason == engine::ErrorReason::kMessageTooLarge ? ExitCode::kBadInput
                                                                         : ExitCode::kFault;
    }
    default:
      return ExitCode::kFault;
  }
}

std::string CommandHelp(Command& command) {
  const CommandInfo info = command.Info();
  FlagSet flags;
  command.DeclareFlags(flags);
  const std::string flag_text = flags.HelpText();

  std::string out = absl::StrCat(info.summary, "\n\nUsage: ", Usage(info),
                                 flag_text.empty() ? "" : " [flags]", "\n\n", info.description, "\n");
  if (!flag_text.empty()) absl::StrAppend(&out, "\nFlags:\n", flag_text);
  absl::StrAppend(&out, "\nExamples:\n");
  for (const absl::string_view line : absl::StrSplit(info.examples, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&out, "  ", line, "\n");
  }
  return out;
}

ExitCode RunCommand(Command& command, const std::vector<std::string>& args) {
  const CommandInfo info = command.Info();
  absl::StatusOr<ExitCode> code;
  if (AsksForHelp(args)) {
    const absl::Status printed = PrintOut(CommandHelp(command));
    code = printed.ok() ? absl::StatusOr<ExitCode>(ExitCode::kOk) : printed;
  } else {
    code = RunGuarded(command, info, args);
  }
  if (code.ok()) return *code;
  PrintError(info.name, code.status().message());
  return ExitCodeFor(code.status());
}

void PrintError(absl::string_view command_name, absl::string_view message) {
  std::string line = absl::StrCat("proofmill", command_name.empty() ? "" : " ", command_name, ": ", message);
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

absl::Status PrintOut(absl::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? absl::OkStatus() : absl::UnavailableError("cannot write to stdout");
}

}  // namespace proofmill::cli
