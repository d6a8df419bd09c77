// One subcommand of the `proofmill` program, and the driver that all of them share.
//
// A subcommand declares its flags, says how it is used, and runs. The driver (RunCommand) parses the flags,
// answers --help, counts the positional arguments, and turns an error into one line on stderr and an exit
// code, so that every subcommand behaves alike.
//
// Thread safety: a command is made, run once and destroyed on the main thread.

#ifndef PROOFMILL_CLI_COMMAND_H_
#define PROOFMILL_CLI_COMMAND_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/flags.h"

namespace proofmill::cli {

enum class ExitCode : int {
  kOk = 0,
  kAnswerIsNo =
      1,          // the command worked and the answer is "no": an invalid proof, a service that is not ready
  kBadInput = 2,  // bad usage or bad input: the caller can do something about it
  kFault = 3,     // an internal or device fault, or a service that cannot be reached
};

// How a subcommand is used, for its help. Texts live as long as the program.
struct CommandInfo {
  absl::string_view name;                     // "prove", or "client prove"
  absl::string_view summary;                  // one line, for the list of commands
  std::vector<absl::string_view> positional;  // names of the positional arguments, in order
  size_t optional_count = 0;                  // of these, the first so many come together or not at all
  bool repeated = false;                      // the last positional argument may come several times
  absl::string_view description;              // one paragraph or more
  absl::string_view examples;                 // one command a line
};

class Command {
 public:
  virtual ~Command() = default;

  virtual CommandInfo Info() const = 0;
  virtual void DeclareFlags(FlagSet& flags) = 0;

  // Runs with flags set and as many positional arguments as Info() allows. Results go to stdout. An error
  // status is printed by the driver: its text says what, expected and got, in one line.
  virtual absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) = 0;
};

// The exit code that an error stands for: kBadInput where the caller's input or usage is at fault, kFault
// otherwise. The reason (engine/base/error_reason.h), if there is one, tells an overloaded service and a
// machine without memory from a file over its limit.
ExitCode ExitCodeFor(const absl::Status& status);

// The text of --help: usage, description, flags with defaults, examples.
std::string CommandHelp(Command& command);

// Parses `args` (what follows the subcommand's name), runs the command and reports. Never throws.
ExitCode RunCommand(Command& command, const std::vector<std::string>& args);

// Prints `proofmill NAME: MESSAGE` on stderr as exactly one line.
void PrintError(absl::string_view command_name, absl::string_view message);

// Writes to stdout and checks that it went out.
//   UNAVAILABLE  stdout is closed or full.
absl::Status PrintOut(absl::string_view text);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_COMMAND_H_
