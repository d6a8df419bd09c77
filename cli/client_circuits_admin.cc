// proofmill client circuits load, unload and alias: changing what a service can prove, while it runs.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/circuit_report.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "engine/base/status_macros.h"

namespace proofmill::cli {
namespace {

constexpr absl::Duration kLoadDeadline = absl::Minutes(30);

absl::Status PrintCircuit(const v1::Circuit& circuit, bool json) {
  if (json) {
    return PrintOut(absl::StrCat(CircuitsToJson({circuit}).front().dump(
                                     2, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                                 "\n"));
  }
  return PrintOut(absl::StrCat(circuit.id(), " ",
                               circuit.reloading() ? "reloading" : CircuitStateName(circuit.state()),
                               circuit.version().empty() ? "" : " ", circuit.version(), "\n"));
}

// What load and unload have in common: one id, a wait for the end, and a line about it.
class CircuitChangeCommand : public Command {
 public:
  void DeclareFlags(FlagSet& flags) override {
    flags.Bool("wait", &wait_, "Wait until it is done; else it goes on by itself.");
    flags.Bool("json", &json_, "Print JSON.");
    flags_.options.target = kAdminTarget;
    flags_.deadline = kLoadDeadline;
    flags_.Declare(flags, "The longest time to wait; the service goes on by itself afterwards.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    absl::StatusOr<v1::Circuit> circuit = Change(*client, positional[0]);
    if (!circuit.ok()) return WithReasonInText(circuit.status());
    if (wait_) circuit = Wait(*client, *circuit);
    if (!circuit.ok()) return WithReasonInText(circuit.status());
    if (circuit->state() == v1::Circuit::STATE_FAILED) {
      return absl::FailedPreconditionError(absl::StrCat(circuit->id(), " failed: ", circuit->failure()));
    }
    if (!circuit->reload_failure().empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          circuit->id(), " was not reloaded and serves on as it was: ", circuit->reload_failure()));
    }
    PROOFMILL_RETURN_IF_ERROR(PrintCircuit(*circuit, json_));
    return ExitCode::kOk;
  }

 protected:
  virtual absl::StatusOr<v1::Circuit> Change(client::Client& client, const std::string& id) = 0;
  absl::Duration deadline() const { return flags_.deadline; }

 private:
  absl::StatusOr<v1::Circuit> Wait(client::Client& client, const v1::Circuit& circuit) {
    if (circuit.state() == v1::Circuit::STATE_UNLOADED) return circuit;
    Progress progress(CircuitStateName(circuit.state()));
    const auto on_change = [&](const v1::Circuit& now) {
      progress.Set(now.load_step().empty() ? CircuitStateName(now.state()) : now.load_step());
    };
    absl::StatusOr<v1::Circuit> settled = client.WatchCircuit(circuit.id(), flags_.deadline, on_change);
    if (!absl::IsNotFound(settled.status()) || circuit.state() != v1::Circuit::STATE_UNLOADING)
      return settled;
    v1::Circuit gone;  // between the two calls
    gone.set_id(circuit.id());
    gone.set_state(v1::Circuit::STATE_UNLOADED);
    return gone;
  }

  ClientFlags flags_;
  bool wait_ = true;
  bool json_ = false;
};

class ClientCircuitsLoadCommand final : public CircuitChangeCommand {
 public:
  CommandInfo Info() const override {
    return {
        .name = "client circuits load",
        .summary = "Load a circuit from the service's folder, or load it anew",
        .positional = {"ID"},
        .description =
            "Asks the admin listener to load ID/circuit.zkey or ID.zkey (for WHIR circuit.whir.json or "
            "ID.whir.json) from the folder\nof the service, and waits until it is ready. A circuit that is "
            "ready serves on with the key it has until the new one has "
            "taken "
            "its place. Prints the id,\nthe state and the version. A key that is refused is exit 2, with the "
            "reason.",
        .examples =
            "proofmill client circuits load transfer-v2\nproofmill client circuits load transfer-v2 "
            "--nowait"};
  }

 private:
  absl::StatusOr<v1::Circuit> Change(client::Client& client, const std::string& id) override {
    return client.LoadCircuit(id, deadline());
  }
};

class ClientCircuitsUnloadCommand final : public CircuitChangeCommand {
 public:
  CommandInfo Info() const override {
    return {.name = "client circuits unload",
            .summary = "Take a circuit out of a service",
            .positional = {"ID"},
            .description =
                "Asks the admin listener to let no new request have the circuit, and waits until those that "
                "were taken "
                "are done\nand its memory was given back. Its files stay where they are: a restart loads it "
                "again.",
            .examples = "proofmill client circuits unload transfer-v1"};
  }

 private:
  absl::StatusOr<v1::Circuit> Change(client::Client& client, const std::string& id) override {
    return client.UnloadCircuit(id, deadline());
  }
};

class ClientCircuitsAliasCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client circuits alias",
            .summary = "Give a circuit another name, or move or remove such a name",
            .positional = {"ALIAS"},
            .description =
                "Asks the admin listener to let ALIAS point to the circuit of --circuit, which must be "
                "ready, or to "
                "remove it with\n--remove. Requests that name the alias find the one circuit or the other, "
                "and their "
                "results name the one that was\nused. Prints the circuit that it pointed to before, if any.",
            .examples =
                "proofmill client circuits alias transfer --circuit transfer-v2\n"
                "proofmill client circuits alias transfer --remove"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("circuit", "ID", &circuit_, "The circuit that the alias shall point to.");
    flags.Bool("remove", &remove_, "Remove the alias.");
    flags_.options.target = kAdminTarget;
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (circuit_.empty() != remove_) {
      return absl::InvalidArgumentError("expected either --circuit or --remove");
    }
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::StatusOr<std::string> before = client->SetAlias(positional[0], circuit_, flags_.deadline);
    if (!before.ok()) return WithReasonInText(before.status());
    if (!before->empty()) PROOFMILL_RETURN_IF_ERROR(PrintOut(absl::StrCat(*before, "\n")));
    return ExitCode::kOk;
  }

 private:
  ClientFlags flags_;
  std::string circuit_;
  bool remove_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeClientCircuitsLoadCommand() {
  return std::make_unique<ClientCircuitsLoadCommand>();
}
std::unique_ptr<Command> MakeClientCircuitsUnloadCommand() {
  return std::make_unique<ClientCircuitsUnloadCommand>();
}
std::unique_ptr<Command> MakeClientCircuitsAliasCommand() {
  return std::make_unique<ClientCircuitsAliasCommand>();
}

}  // namespace proofmill::cli
