// The `proofmill` program: finds the subcommand and runs it. See cli/command.h for what all of them share.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "engine/backend/select.h"
#include "server/build_info.h"
#include "server/process.h"

namespace proofmill::cli {
namespace {

using Factory = std::unique_ptr<Command> (*)();

// In the order of the help. Names of several words form a group under the first.
constexpr Factory kFactories[] = {MakeServeCommand,
                                  MakeApiKeyCommand,
                                  MakeProveCommand,
                                  MakeVerifyCommand,
                                  MakeVkeyCommand,
                                  MakeCalldataCommand,
                                  MakeInspectCommand,
                                  MakeSetupCommand,
                                  MakeSynthCommand,
                                  MakeClientProveCommand,
                                  MakeClientSubmitCommand,
                                  MakeClientWatchCommand,
                                  MakeClientJobCommand,
                                  MakeClientJobsCommand,
                                  MakeClientCancelCommand,
                                  MakeClientDeleteCommand,
                                  MakeClientVerifyCommand,
                                  MakeClientWhirProveCommand,
                                  MakeClientWhirVerifyCommand,
                                  MakeClientCircuitsCommand,
                                  MakeClientCircuitsLoadCommand,
                                  MakeClientCircuitsUnloadCommand,
                                  MakeClientCircuitsAliasCommand,
                                  MakeClientStatusCommand,
                                  MakeClientLogLevelCommand,
                                  MakeClientHealthCommand,
                                  MakeLoadCommand,
                                  MakeBenchProveCommand,
                                  MakeBenchMsmCommand,
                                  MakeBenchNttCommand,
                                  MakeWhirProveCommand,
                                  MakeWhirVerifyCommand,
                                  MakeWhirBenchCommand,
                                  MakeWhirCheckVectorCommand};

constexpr size_t kNameWordsMax = 3;

// Lists the commands whose names begin with `prefix`; all of them for an empty one.
std::string ListCommands(absl::string_view prefix) {
  std::string out;
  for (const Factory make : kFactories) {
    const CommandInfo info = make()->Info();
    if (absl::StartsWith(info.name, prefix)) {
      absl::StrAppendFormat(&out, "  %-23s  %s\n", info.name, info.summary);
    }
  }
  return out;
}

std::string GeneralHelp() {
  return absl::StrCat(
      "proofmill makes and serves zero-knowledge proofs (Groth16 over BN254, snarkjs formats; WHIR over "
      "BabyBear).\n\n"
      "Usage: proofmill COMMAND [arguments] [flags]\n\nCommands:\n",
      ListCommands(""),
      "\nproofmill COMMAND --help shows a command's flags and examples; proofmill --version the build.\n"
      "Exit codes: 0 success, 1 the answer is no, 2 bad usage or input, 3 anything else that went wrong (no "
      "service at\nthe address, an address that is taken, a fault), 4 `serve` has no device left.\n");
}

std::string Version() {
  const server::BuildInfo build = server::ThisBuild();
  return absl::StrCat("proofmill ", std::string(build.version), " (revision ", std::string(build.revision),
                      ", CUDA toolkit ", std::string(build.cuda),
                      ")\nbackends: ", std::string(engine::CompiledBackends()), "\n");
}

ExitCode Print(absl::string_view text) {
  const absl::Status printed = PrintOut(text);
  if (printed.ok()) return ExitCode::kOk;
  PrintError("", printed.message());
  return ExitCodeFor(printed);
}

ExitCode UsageError(absl::string_view message) {
  PrintError("", message);
  return ExitCode::kBadInput;
}

// `args` is the command line without the program's name.
ExitCode Dispatch(std::vector<std::string> args) {
  bool help = false;
  if (!args.empty() && args[0] == "help") {
    help = true;
    args.erase(args.begin());
  }
  if (args.empty())
    return help ? Print(GeneralHelp()) : UsageError("expected a command, got none; see proofmill help");
  if (args[0] == "--help" || args[0] == "-h") return Print(GeneralHelp());
  if (args[0] == "--version" || args[0] == "version") return Print(Version());

  // The longest name counts: `client circuits load` is not `client circuits` with an argument.
  for (size_t words = std::min(args.size(), kNameWordsMax); words > 0; --words) {
    const std::string said =
        absl::StrJoin(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(words), " ");
    for (const Factory make : kFactories) {
      const std::unique_ptr<Command> command = make();
      if (command->Info().name != said) continue;
      args.erase(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(words));
      if (help) args = {"--help"};
      return RunCommand(*command, args);
    }
  }

  const std::string group = ListCommands(absl::StrCat(args[0], " "));
  if (group.empty()) return UsageError(absl::StrCat("unknown command '", args[0], "', see proofmill help"));
  const bool asks = help || (args.size() > 1 && (args[1] == "--help" || args[1] == "-h"));
  if (asks) return Print(absl::StrCat("Usage: proofmill ", args[0], " COMMAND\n\nCommands:\n", group));
  return UsageError(absl::StrCat("expected a command after '", args[0], "', got '",
                                 args.size() > 1 ? args[1] : "nothing", "'; see proofmill help ", args[0]));
}

}  // namespace
}  // namespace proofmill::cli

int main(int argc, char** argv) {
  proofmill::server::HardenProcess();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is a write error, not a death
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a limit on the size of files
  return static_cast<int>(
      proofmill::cli::Dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
}
