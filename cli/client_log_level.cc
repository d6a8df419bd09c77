// proofmill client log-level: how much a service writes to its log.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/status_report.h"
#include "engine/base/status_macros.h"

namespace proofmill::cli {
namespace {

class ClientLogLevelCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "client log-level",
        .summary = "Change the level of a service's log",
        .positional = {"LEVEL"},
        .description =
            "Asks the admin listener to write what is at least as grave as LEVEL: debug, info, warn or "
            "error. "
            "Prints the level\nthat counted before. It stays until it is changed again or the process ends.",
        .examples = "proofmill client log-level debug"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags_.options.target = kAdminTarget;
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(const v1::LogLevel level, ParseLogLevel(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::StatusOr<v1::LogLevel> before = client->SetLogLevel(level, flags_.deadline);
    if (!before.ok()) return WithReasonInText(before.status());
    PROOFMILL_RETURN_IF_ERROR(PrintOut(absl::StrCat(LogLevelName(*before), "\n")));
    return ExitCode::kOk;
  }

 private:
  ClientFlags flags_;
};

}  // namespace

std::unique_ptr<Command> MakeClientLogLevelCommand() { return std::make_unique<ClientLogLevelCommand>(); }

}  // namespace proofmill::cli
