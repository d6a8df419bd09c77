// proofmill client circuits: what a service can prove.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/circuit_report.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "engine/base/status_macros.h"

namespace proofmill::cli {
namespace {

class ClientCircuitsCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "client circuits",
        .summary = "List the circuits of a service",
        .positional = {},
        .description = "One line per circuit, failed ones too, with the reason below.",
        .examples =
            "proofmill client circuits\nproofmill client circuits --target prover:50051 --ca ca.pem --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Bool("json", &json_, "Print JSON.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::StatusOr<std::vector<v1::Circuit>> circuits = client->ListCircuits(flags_.deadline);
    if (!circuits.ok()) return WithReasonInText(circuits.status());
    PROOFMILL_RETURN_IF_ERROR(
        PrintOut(json_ ? CircuitsToJson(*circuits).dump(2, ' ', false,
                                                        nlohmann::ordered_json::error_handler_t::replace) +
                             "\n"
                       : CircuitsToText(*circuits)));
    return ExitCode::kOk;
  }

 private:
  ClientFlags flags_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeClientCircuitsCommand() { return std::make_unique<ClientCircuitsCommand>(); }

}  // namespace proofmill::cli
